internal import Glibc
package import KeychainModel

/// A secret as a file that is only in memory (memfd_create(2)). The file ends with the last process that has it open.
/// Its pages can reach the swap, as those of every program can.
package struct MemoryFile {
    package enum Use {
        /// The program that this one becomes or starts inherits the open file and reads it.
        case reading
        /// Another program of this user writes the file while this one runs.
        case writing
    }

    /// The file as the standard input of a program that this one starts.
    package let descriptor: Int32

    package init(_ secret: SecretBytes, for use: Use) throws(KeychainError) {
        var descriptor: Int32 = -1
        let failure = secret.withUnsafeBytes {
            ckeychain_memory_file("keychainctl", $0.baseAddress, $0.count, use == .writing ? 1 : 0, &descriptor)
        }
        guard failure == 0 else { throw Self.failure("make", failure) }
        self.descriptor = descriptor
    }

    /// The path for a program that this one becomes or starts.
    package var inheritedPath: String { "/dev/fd/\(descriptor)" }

    /// The path for another program of this user.
    package var path: String { "/proc/\(getpid())/fd/\(descriptor)" }

    package func becomeStandardInput() throws(KeychainError) {
        guard dup2(descriptor, STDIN_FILENO) >= 0 else { throw KeychainError(file: "standard input", "replace", errno) }
        close(descriptor)
    }

    package func read() throws -> SecretBytes {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.failure("read", errno) }
        let buffer = SecretBuffer()
        while try buffer.fill(from: descriptor, failure: { Self.failure("read", $0) }) {}
        return buffer.secret()
    }

    package func release() { close(descriptor) }

    private static func failure(_ verb: String, _ number: Int32) -> KeychainError {
        KeychainError(
            .allocation, message: "cannot \(verb) a file in memory: \(String(cString: strerror(number)))")
    }
}
