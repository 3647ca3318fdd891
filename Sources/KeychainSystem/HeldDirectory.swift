internal import Glibc

/// A directory that is held open. It need not be readable.
package final class HeldDirectory: Sendable {
    package let descriptor: Int32
    /// How it was named, which may lead elsewhere by now.
    package let path: String

    /// O_PATH (open(2)), the same on every machine that Swift runs on.
    private static let nameOnly: Int32 = 0o10_000_000

    package init(_ path: String) throws(SystemError) {
        descriptor = open(path, Self.nameOnly | O_DIRECTORY | O_CLOEXEC)
        self.path = path
        guard descriptor >= 0 else { throw SystemError("open", errno) }
    }

    deinit { close(descriptor) }

    /// The identity of the file with a name in it. A link is not followed.
    package func number(of name: String) -> FileNumber? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? FileNumber(status) : nil
    }
}
