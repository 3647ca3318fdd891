internal import Glibc
internal import KeychainModel

/// A file that is in memory alone and on no file system: memfd_create(2). It ends with the last process that has it open.
///
/// Its pages can reach the swap, as those of every program can.
final class MemoryFile {
    private let descriptor: Int32

    /// - Throws: a ``ToolFailure`` if the system has no such file for us.
    init(_ content: SecretBytes) throws(ToolFailure) {
        descriptor = memfd_create("keychain", 1)  // MFD_CLOEXEC
        guard descriptor >= 0 else { throw Self.failure("make") }
        guard Console.writeAll(content, to: descriptor) == 0 else { throw Self.failure("write") }
    }

    deinit { close(descriptor) }

    /// Where other processes of this user open it, as long as this one is there.
    var path: String { "/proc/\(getpid())/fd/\(descriptor)" }

    /// Everything that is in it now.
    func read() throws(ToolFailure) -> SecretBytes {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.failure("read") }
        let buffer = SecretBuffer()
        do {
            while try buffer.fill(from: descriptor, failure: { _ in Self.failure("read") }) {}
        } catch {
            throw Self.failure("read")
        }
        return buffer.secret()
    }

    private static func failure(_ verb: String) -> ToolFailure {
        ToolFailure(message: "cannot \(verb) a file in memory: \(String(cString: strerror(errno)))")
    }
}

@_extern(c) private func memfd_create(_ name: UnsafePointer<CChar>, _ flags: CUnsignedInt) -> Int32
