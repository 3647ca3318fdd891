internal import Foundation
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The file `daemon.lock`, which a daemon has locked for as long as it has the store: no two of them may. The kernel
/// takes the lock from a process that ends.
package final class DaemonLock: Sendable {
    private let descriptor: Int32
    private let url: URL

    /// - Throws: `.notAvailable` if another process has it.
    init(_ configuration: EngineConfiguration) throws(KeychainError) {
        let url = configuration.storeDirectory.appendingPathComponent("daemon.lock")
        let file = try OwnFile.make(url, through: configuration.files)
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let failure = errno
            close(file)
            guard failure == EWOULDBLOCK else { throw KeychainError(file: "lock", url, failure) }
            throw KeychainError(
                .notAvailable,
                message: "a keychaind has the keychain in \(configuration.storeDirectory.path) open already")
        }
        descriptor = file
        self.url = url
    }

    /// To be asked under the store's lock.
    ///
    /// - Throws: `.notAvailable` if a repair has put another directory in the place of the store's: then this lock is the
    ///   old one's.
    func requireInPlace() throws(KeychainError) {
        guard LockFile.isInPlace(descriptor, url) else {
            throw KeychainError(
                .notAvailable, message: "\(url.deletingLastPathComponent().path) is being replaced; try again")
        }
    }

    deinit { close(descriptor) }
}
