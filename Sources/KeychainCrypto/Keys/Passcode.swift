package import KeychainModel

/// The rules for a passcode, and for the passphrase of an export.
package enum Passcode {
    /// More is a mistake, such as a whole file on standard input.
    static let mostBytes = 1024

    /// - Parameter name: The word for it in messages.
    /// - Throws: `.parameter` for an empty one, `.dataTooLarge`, or `.decode` for bytes that are no UTF-8, because they
    ///   cannot be typed again.
    package static func check(_ passcode: SecretBytes, as name: String = "passcode") throws(KeychainError) {
        guard passcode.count > 0 else { throw KeychainError(.parameter, message: "a \(name) cannot be empty") }
        guard passcode.count <= mostBytes else {
            throw KeychainError(
                .dataTooLarge,
                message: "the \(name) has \(passcode.count) bytes; the most one can have is \(mostBytes)")
        }
        guard passcode.withUnsafeBytes({ (try? UTF8Span(validating: $0.bindMemory(to: UInt8.self).span)) != nil })
        else {
            throw KeychainError(.decode, message: "the \(name) is not valid UTF-8")
        }
    }

    /// Makes no string of the bytes, because a string is not erased.
}
