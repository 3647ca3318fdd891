internal import Foundation
package import KeychainModel
internal import KeychainSystem

/// Hands a store from one host to another, in one step: a file that says whose it is appears or goes.
///
/// Each half can be repeated if it was cut short. Nothing else of the store changes, so nothing can be lost.
package struct StoreHandover {
    private let configuration: EngineConfiguration

    package init(_ configuration: EngineConfiguration) { self.configuration = configuration }

    /// Makes the store the user's daemon's; one that is not there yet it will make. Programs that have the store open
    /// notice with their next call. What was unlocked is locked, since nobody can hand over keys.
    ///
    /// - Throws: `.notAvailable` if the keybag or the device key do not open: a daemon could not open the store either.
    package func giveToDaemon() throws(KeychainError) {
        try run {
            try PrivateDirectory.create(configuration.storeDirectory, configuration.files)
            let keys = try keyStore()
            try withStoreLock { try HostMark(configuration).write(.user) }
            try keys?.leaveToDaemon()
        }
    }

    /// The last part of ``giveToDaemon()``.
    func tellPrograms() throws { try keyStore()?.leaveToDaemon() }

    /// Makes it again the store of every program that uses it.
    ///
    /// - Throws: `.notAvailable` if a daemon has it: that one gives it up itself (``Engine/giveUp()``).
    package func takeFromDaemon() throws(KeychainError) {
        try run {
            try PrivateDirectory.check(configuration.storeDirectory)
            let lock = try DaemonLock(configuration)
            try withStoreLock {
                try lock.requireInPlace()
                try HostMark(configuration).write(.embedded)
            }
        }
    }

    private func run(_ body: () throws -> Void) throws(KeychainError) {
        do { try body() } catch { throw KeychainError(engineFailure: error) }
    }

    private func withStoreLock(_ body: () throws -> Void) throws {
        let lock = configuration.storeDirectory.appendingPathComponent("store.lock")
        try LockFile.withLock(lock, configuration.files, body)
    }

    /// nil: there is no store yet.
    private func keyStore() throws -> KeyStore? {
        let keybag = KeybagFile(configuration)
        guard keybag.exists else { return nil }
        // As programs have it, with what they share.
        var configuration = configuration
        configuration.host = .embedded
        return try KeyStore(configuration, keybagFile: keybag)
    }
}

extension KeyStore {
    /// Tells every process that has the store open to look whose it is and to drop what it unlocked itself, as a lock
    /// does, and leaves no key of it in the kernel's keyring.
    func leaveToDaemon() throws(KeychainError) {
        try state.update { $0.lock(graceEnd: 0) }
        withdraw()
    }
}
