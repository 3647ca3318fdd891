internal import CKeychainLinux
internal import Glibc
internal import KeychainModel

/// A secret as a file that is on no disk, for the program that this one becomes or starts.
struct MemoryFile {
    private let descriptor: Int32

    init(_ secret: SecretBytes) throws(KeychainError) {
        var descriptor: Int32 = -1
        let failure = secret.withUnsafeBytes {
            ckeychain_memory_file("keychainctl", $0.baseAddress, $0.count, &descriptor)
        }
        guard failure == 0 else {
            throw KeychainError(
                .allocation, message: "cannot make a file in memory: \(String(cString: strerror(failure)))")
        }
        self.descriptor = descriptor
    }

    /// By which the program finds it, and what it starts.
    var path: String { "/dev/fd/\(descriptor)" }

    /// Puts it in the place of standard input.
    func becomeStandardInput() throws(KeychainError) {
        guard dup2(descriptor, STDIN_FILENO) >= 0 else { throw KeychainError(file: "standard input", "replace", errno) }
        close(descriptor)
    }

    /// This program is done with it.
    func release() { close(descriptor) }
}
