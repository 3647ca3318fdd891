internal import KeychainModel

/// What passes for a passcode.
enum Passcode {
    /// More is a mistake, such as a whole file on standard input.
    static let mostBytes = 1024

    /// - Throws: `.parameter` for an empty one, `.dataTooLarge`, or `.decode` for bytes that are no UTF-8: nobody could
    ///   type them again.
    static func check(_ passcode: SecretBytes) throws(KeychainError) {
        guard passcode.count > 0 else { throw KeychainError(.parameter, message: "a passcode cannot be empty") }
        guard passcode.count <= mostBytes else {
            throw KeychainError(
                .dataTooLarge,
                message: "the passcode has \(passcode.count) bytes; the most one can have is \(mostBytes)")
        }
        guard passcode.withUnsafeBytes(isUTF8) else {
            throw KeychainError(.decode, message: "the passcode is not valid UTF-8")
        }
    }

    /// Without making a string of it, which nobody would erase.
    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }
}
