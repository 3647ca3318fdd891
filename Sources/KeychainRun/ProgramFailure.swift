internal import Glibc

/// A program that cannot be started or watched, or has failed.
package struct ProgramFailure: Error {
    /// The exit status that shells use: 127 for a program that is not found, 126 for one that cannot be started. 1:
    /// anything else.
    package let status: Int32
    package let message: String

    init(status: Int32, _ message: String) { (self.status, self.message) = (status, message) }

    /// - Parameter verb: The end of a sentence that begins with "cannot".
    init(_ verb: String, _ failure: Int32) {
        self.init(status: 1, "cannot \(verb): \(String(cString: strerror(failure)))")
    }
}
