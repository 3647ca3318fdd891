internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// git's own lock of a file: while a program changes the file, there is a second one with `.lock` behind its name.
struct GitLock {
    private static let content = Data("keychainctl setup\n".utf8)
    private static let milliseconds: (wait: Int, limit: Int) = (50, 10_000)

    private let path: String
    private let note: (String) -> Void

    /// - Parameters:
    ///   - path: The path of the file, which is no link.
    ///   - note: Tells the person that another program is waited for.
    init(of path: String, _ note: @escaping (String) -> Void = { _ in }) {
        (self.path, self.note) = (path + ".lock", note)
    }

    /// - Throws: ``SetupFailure`` if another program has the lock for longer than any change takes.
    func withLock<R>(_ body: () throws -> R) throws -> R {
        try take()
        defer { unlink(path) }
        return try body()
    }

    private func take() throws {
        for turn in 0... {
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor >= 0 {
                defer { close(descriptor) }
                let count = Self.content.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                if count == Self.content.count { return }
                let failure = count < 0 ? errno : ENOSPC
                unlink(path)
                throw KeychainError(file: path, "write", failure)
            }
            guard errno == EEXIST else { throw KeychainError(file: path, "make", errno) }
            guard turn * Self.milliseconds.wait < Self.milliseconds.limit else {
                throw SetupFailure(
                    message: "\(path) is there: another program changes the file. If none does, remove \(path)")
            }
            if turn == 0 { note("waiting for another program, which has \(path)") }
            usleep(UInt32(Self.milliseconds.wait * 1000))
        }
    }

    /// Removes the lock of a command that was killed. Only one `setup` runs at a time (``SetupRecord/withLock(_:_:)``),
    /// so no other one has the lock.
    func removeLeftover() {
        if let file = try? SetupFile(path), file.content == Self.content { unlink(path) }
    }
}
