internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// A file that a person names, or standard input.
enum FileInput {
    static func isStandardInput(_ path: String?) -> Bool { path == nil || path == "-" }

    /// - Parameter path: nil or "-": standard input, to its end.
    /// - Throws: `.inputOutput` if the file cannot be read, `.dataTooLarge` with `message` beyond the limit.
    static func read(_ path: String?, limit: Int, otherwise message: String) throws -> SecretBytes {
        guard let path, !isStandardInput(path) else {
            return try SecretInput.readToEnd(limit: limit, otherwise: message)
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw KeychainError(file: path, "read", errno) }
        defer { close(descriptor) }
        let buffer = SecretBuffer()
        while try buffer.fill(from: descriptor, failure: { KeychainError(file: path, "read", $0) }) {
            if buffer.count > limit { throw KeychainError(.dataTooLarge, message: message) }
        }
        return buffer.secret()
    }
}
