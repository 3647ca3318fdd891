import KeychainModel
@testable import KeychainEngine

extension Engine {
    /// The accounts of all generic passwords whose secrets open without anybody showing anything: what a program can do
    /// that has the keys of an unlocked store and leaves out every check.
    func openingEverySecretItCan() throws -> [String] {
        let items = try items()
        return try items.read { connection in
            var accounts: [String] = []
            var next = try connection.nextItem(from: 1)
            while let id = next {
                next = try connection.nextItem(from: id + 1)
                do {
                    let row = try items.openWhole(id, as: .genericPassword, on: connection)
                    if case .text(let account)? = row?.item.attributes[.account] { accounts.append(account) }
                } catch let error as KeychainError where error.code == .authenticationFailed {
                    // A row that needs an authentication is left out.
                }
            }
            return accounts
        }
    }
}
