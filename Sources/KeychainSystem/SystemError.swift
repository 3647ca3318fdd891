internal import Glibc

/// A call of the system that failed. Each layer makes an error of its own of it.
package struct SystemError: Error {
    /// The step that failed: "open an event descriptor".
    package let doing: String
    /// The errno value.
    package let number: Int32

    package init(_ doing: String, _ number: Int32) {
        self.doing = doing
        self.number = number
    }

    package var message: String { "cannot \(doing): \(String(cString: strerror(number)))" }
}
