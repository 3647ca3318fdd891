internal import FoundationEssentials
package import KeychainModel
internal import KeychainSystem

/// Hands a store from one host to another, in one step: the file that names the host appears or goes.
///
/// Each half can be repeated if it was cut short. Nothing else of the store changes, so nothing can be lost.
package struct StoreHandover {
    private let configuration: EngineConfiguration

    package init(_ configuration: EngineConfiguration) { self.configuration = configuration }

    /// Gives the store to the user's daemon, which makes a missing store. Programs that have the store open notice with
    /// their next call. An unlocked store is locked, since keys cannot be handed over.
    ///
    /// - Throws: `.notAvailable` if the keybag or the device key do not open: a daemon could not open the store either.
    package func giveToDaemon() throws(KeychainError) {
        try run {
            try PrivateDirectory.create(
                configuration.storeDirectory, configuration.files, inOthersHomes: configuration.mayLieInOthersHomes)
            let keys = try keyStore()
            try withStoreLock { try HostMark(configuration).write(.user) }
            try keys?.leaveToDaemon()
        }
    }

    /// The last part of ``giveToDaemon()``.
    func tellPrograms() throws { try keyStore()?.leaveToDaemon() }

    /// Gives the store back to the programs that use it.
    ///
    /// - Throws: `.notAvailable` if a daemon has the store open: the daemon has to give it up itself
    ///   (``Engine/giveUp()``).
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

    /// nil if there is no store yet.
    private func keyStore() throws -> KeyStore? {
        let keybag = KeybagFile(configuration)
        guard keybag.exists else { return nil }
        // The keys are those that the programs share.
        var configuration = configuration
        configuration.host = .embedded
        return try KeyStore(configuration, keybagFile: keybag)
    }
}

extension KeyStore {
    /// Makes every process that has the store open look for its host and drop the keys that it unlocked itself, as a
    /// lock does, and leaves no key of the store in the kernel's keyring.
    func leaveToDaemon() throws(KeychainError) {
        try state.update { $0.lock(graceEnd: 0) }
        withdraw()
    }
}
