internal import CKeychainLinux
internal import Foundation
internal import Glibc
internal import KeychainModel

/// A secret as a file that is in memory alone and on no file system (memfd_create(2)). It ends with the last process that
/// has it open. Its pages can reach the swap, as those of every program can.
struct MemoryFile {
    enum Use {
        /// The program that this one becomes or starts reads it, and finds it open.
        case reading
        /// Another program of this user writes it, while this one is there.
        case writing
    }

    private let descriptor: Int32

    init(_ secret: SecretBytes, for use: Use) throws(KeychainError) {
        var descriptor: Int32 = -1
        let failure = secret.withUnsafeBytes {
            ckeychain_memory_file("keychainctl", $0.baseAddress, $0.count, use == .writing ? 1 : 0, &descriptor)
        }
        guard failure == 0 else { throw Self.failure("make", failure) }
        self.descriptor = descriptor
    }

    /// By which a program finds it that this one becomes or starts.
    var inheritedPath: String { "/dev/fd/\(descriptor)" }

    /// By which a program reads it that this one starts, as its standard input.
    var handle: FileHandle { FileHandle(fileDescriptor: descriptor, closeOnDealloc: false) }

    /// By which another program of this user finds it.
    var path: String { "/proc/\(getpid())/fd/\(descriptor)" }

    /// Puts it in the place of standard input.
    func becomeStandardInput() throws(KeychainError) {
        guard dup2(descriptor, STDIN_FILENO) >= 0 else { throw KeychainError(file: "standard input", "replace", errno) }
        close(descriptor)
    }

    /// Everything that is in it now.
    func read() throws -> SecretBytes {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.failure("read", errno) }
        let buffer = SecretBuffer()
        while try buffer.fill(from: descriptor, failure: { Self.failure("read", $0) }) {}
        return buffer.secret()
    }

    /// This program is done with it.
    func release() { close(descriptor) }

    private static func failure(_ verb: String, _ number: Int32) -> KeychainError {
        KeychainError(
            .allocation, message: "cannot \(verb) a file in memory: \(String(cString: strerror(number)))")
    }
}
