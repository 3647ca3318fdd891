internal import Foundation
internal import Glibc
internal import KeychainModel

/// A file that processes lock to take turns.
enum LockFile {
    /// Runs `body` while no other process holds the lock, waiting for the one that does.
    ///
    /// The file is left behind: removing it would let two processes hold it at once.
    static func withLock<R>(_ url: URL, _ body: () throws -> R) throws -> R {
        let file = open(url.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw AtomicFile.fileError("open", url, errno) }
        defer { close(file) }
        while flock(file, LOCK_EX) != 0 {
            guard errno == EINTR else { throw AtomicFile.fileError("lock", url, errno) }
        }
        return try body()
    }
}
