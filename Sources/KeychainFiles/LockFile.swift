package import Foundation
internal import Glibc
internal import KeychainModel
package import KeychainSystem

/// A file that processes lock to take turns.
package enum LockFile {
    /// Longer than any process has it: the derivation of a passcode takes a third of a second.
    private static let patience = Duration.seconds(60)

    /// Runs `body` while no other process holds the lock, waiting for the one that does.
    ///
    /// - Throws: `.notAvailable` if that takes longer than a minute: a process that was stopped may hold it for ever.
    ///
    /// The file is left behind: removing it would let two processes hold it at once.
    package static func withLock<R>(_ url: URL, _ files: any FileSystem, _ body: () throws -> R) throws -> R {
        let end = ContinuousClock.now + patience
        while true {
            let file = try lock(url, files, until: end)
            // A forked child may have it open too, and would keep the lock.
            defer {
                flock(file, LOCK_UN)
                close(file)
            }
            // A repair puts another directory in the place of the store's; then this is the old one's.
            if isInPlace(file, url) { return try body() }
        }
    }

    /// Whether a file that is open is still the one of that name.
    package static func isInPlace(_ file: Int32, _ url: URL) -> Bool {
        var (open, named) = (stat(), stat())
        guard fstat(file, &open) == 0, stat(url.path, &named) == 0 else { return false }
        return open.st_ino == named.st_ino && open.st_dev == named.st_dev
    }

    private static func lock(
        _ url: URL, _ files: any FileSystem, until end: ContinuousClock.Instant
    ) throws(KeychainError) -> Int32 {
        let file = try OwnFile.make(url, through: files)
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            let failure = errno
            guard failure == EWOULDBLOCK || failure == EINTR else {
                close(file)
                throw KeychainError(file: "lock", url, failure)
            }
            guard ContinuousClock.now < end else {
                close(file)
                throw KeychainError(
                    .notAvailable, message: "another process has been using \(url.path) for a minute; try again")
            }
            usleep(5_000)
        }
        return file
    }
}
