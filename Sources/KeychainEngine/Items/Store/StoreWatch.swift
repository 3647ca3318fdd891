internal import CKeychainLinux
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// Tells programs of each other's changes of a store: each commit sets the dates of the file `keychain.db-shm` anew,
/// and programs watch that file.
///
/// SQLite's own writes would tell too early: the log is written before the commit, and the commit itself is a change of
/// shared memory, which the kernel does not report.
struct StoreWatch: Sendable {
    private let path: String

    init(_ database: URL) { path = database.path + "-shm" }

    /// Called after a commit. If it fails, no program is told.
    func announce() { utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) }

    /// - Throws: `.notAvailable` if the store does not exist any more.
    func listen() throws(KeychainError) -> StoreListener { try StoreListener(path) }
}

final class StoreListener: ChangeListener {
    /// The pause between the looks of a listener without a watcher.
    private static let pause = Duration.seconds(1)

    /// nil if the user has no more watchers (inotify(7)).
    private let watcher: Int32?

    fileprivate init(_ path: String) throws(KeychainError) {
        var watcher: Int32 = -1
        switch ckeychain_watch_file(path, &watcher) {
        case 0: self.watcher = watcher
        case EMFILE, ENOSPC: self.watcher = nil
        case let failure: throw KeychainError(file: "watch", URL(fileURLWithPath: path), failure)
        }
    }

    deinit { if let watcher { close(watcher) } }

    func waitForChange(timeout: Duration) throws(KeychainError) -> Bool {
        var hasChanged: Int32 = 0
        let time = watcher == nil ? min(timeout, Self.pause) : timeout
        let milliseconds = Int32(clamping: Int(time / .milliseconds(1)))
        guard let watcher else {
            poll(nil, 0, milliseconds)
            return true
        }
        let failure = ckeychain_await_change(watcher, milliseconds, &hasChanged)
        guard failure == 0 else {
            throw KeychainError(.notAvailable, message: "changes of the keychain cannot be watched (\(failure))")
        }
        return hasChanged != 0
    }
}
