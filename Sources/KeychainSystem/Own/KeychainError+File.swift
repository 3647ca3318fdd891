package import FoundationEssentials
internal import Glibc
package import KeychainModel

extension KeychainError {
    /// - Parameters:
    ///   - verb: The step that failed.
    ///   - failure: The number that the system gave.
    package init(file verb: String, _ url: URL, _ failure: Int32) {
        let reason = String(cString: strerror(failure))
        self.init(failure == ENOSPC ? .diskFull : .notAvailable, message: "cannot \(verb) \(url.path): \(reason)")
    }
}
