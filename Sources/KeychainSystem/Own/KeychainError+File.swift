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

    /// The failure of a system call on a file that a person named.
    package init(file path: String, _ verb: String, _ failure: Int32) {
        let isFull = failure == ENOSPC || failure == EDQUOT
        self.init(
            isFull ? .diskFull : .inputOutput, message: "cannot \(verb) \(path): \(String(cString: strerror(failure)))")
    }
}
