internal import Foundation
internal import Glibc
internal import KeychainModel

/// A file that processes lock to take turns.
enum LockFile {
    /// Longer than any process has it: the derivation of a passcode takes a third of a second.
    private static let patience = Duration.seconds(60)

    /// Runs `body` while no other process holds the lock, waiting for the one that does.
    ///
    /// - Throws: `.notAvailable` if that takes longer than a minute: a process that was stopped may hold it for ever.
    ///
    /// The file is left behind: removing it would let two processes hold it at once.
    static func withLock<R>(_ url: URL, _ files: any FileSystem, _ body: () throws -> R) throws -> R {
        let file = files.open(url.path, O_RDWR | O_CREAT | O_CLOEXEC)
        guard file >= 0 else { throw AtomicFile.fileError("open", url, errno) }
        defer { close(file) }
        let end = ContinuousClock.now + patience
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw AtomicFile.fileError("lock", url, errno) }
            guard ContinuousClock.now < end else {
                throw KeychainError(
                    .notAvailable, message: "another process has been using \(url.path) for a minute; try again")
            }
            usleep(5_000)
        }
        return try body()
    }
}
