internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The file `daemon.lock`. A daemon has it locked for as long as it has the store, so that no two daemons do. The
/// kernel takes the lock from a process that ends.
package final class DaemonLock: Sendable {
    private let descriptor: Int32
    private let url: URL

    /// - Throws: `.notAvailable` if another process has the lock.
    init(_ configuration: EngineConfiguration) throws(KeychainError) {
        let url = configuration.storeDirectory.appendingPathComponent("daemon.lock")
        let file = try OwnFile.make(url, through: configuration.files)
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let failure = errno
            close(file)
            guard failure == EWOULDBLOCK else { throw KeychainError(file: "lock", url, failure) }
            throw KeychainError(
                .notAvailable,
                message: "a keychaind, or 'keychainctl migrate', has the keychain in "
                    + "\(configuration.storeDirectory.path) open already")
        }
        descriptor = file
        self.url = url
    }

    /// The caller has the store's lock.
    ///
    /// - Throws: `.notAvailable` if a repair has exchanged the store's directory, so that this lock belongs to the old
    ///   one.
    func requireInPlace() throws(KeychainError) {
        guard LockFile.isInPlace(descriptor, url) else {
            throw KeychainError(
                .notAvailable, message: "\(url.deletingLastPathComponent().path) is being replaced; try again")
        }
    }

    deinit { close(descriptor) }
}
