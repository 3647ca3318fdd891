internal import FoundationEssentials
package import KeychainModel
internal import KeychainSystem

/// Hands a store from one host to another, in one step: the file that names the host appears, changes or goes.
///
/// Each handover can be repeated if it was cut short. Nothing else of the store changes, so nothing can be lost.
package struct StoreHandover {
    private let configuration: EngineConfiguration

    package init(_ configuration: EngineConfiguration) { self.configuration = configuration }

    /// Gives the store, or a missing one, to a host. Programs that have it open notice with their next call, and an
    /// unlocked store is locked, since keys cannot be handed over. A store that is closed for a move, or that goes back to
    /// the programs, must not be open: a daemon gives it up itself (``Engine/giveUp()``).
    ///
    /// - Parameter former: The host by which the caller decided; nil: any, unless the store is closed for a move.
    /// - Throws: `.notAvailable` if another process has the store open, its host is another one by now, or its keybag or
    ///   device key do not open: no other host could open it either.
    package func handOver(from former: StoreHost? = nil, to host: StoreHost) throws(KeychainError) {
        let isClosed = former?.isMoving == true || host == .embedded
        do {
            try isClosed
                ? PrivateDirectory.check(configuration.storeDirectory)
                : PrivateDirectory.create(
                    configuration.storeDirectory, configuration.files,
                    inOthersHomes: configuration.mayLieInOthersHomes)
            let lock = isClosed ? try DaemonLock(configuration) : nil
            let keys = isClosed ? nil : try keyStore()
            try configuration.withStoreLock {
                try lock?.requireInPlace()
                let mark = HostMark(configuration)
                let present = try mark.read()
                if let former, present != former { throw KeychainError.hasChangedHands(configuration.storeDirectory) }
                // The items may be in another place, in whole or in part.
                if former == nil, present.isMoving { throw KeychainError.isMoved(configuration.storeDirectory) }
                try mark.write(host)
            }
            try keys?.leaveToDaemon()
        } catch {
            throw KeychainError(engineFailure: error)
        }
    }

    /// The last part of ``handOver(from:to:)``.
    func tellPrograms() throws { try keyStore()?.leaveToDaemon() }

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
