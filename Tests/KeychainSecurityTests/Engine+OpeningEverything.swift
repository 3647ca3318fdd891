import KeychainEngine
import KeychainModel
import KeychainTestSupport

extension Engine {
    /// The accounts of all generic passwords whose secrets open without anybody showing anything: what a program can do
    /// that has the keys of an unlocked store and leaves out every check.
    func openingEverySecretItCan() throws -> [String] {
        try openableRows(of: .genericPassword).compactMap { attributes in
            if case .text(let account) = attributes[.account] { account } else { nil }
        }
    }
}
