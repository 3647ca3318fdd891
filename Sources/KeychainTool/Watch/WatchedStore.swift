internal import Foundation
internal import Keychain
internal import KeychainModel

/// A keychain as its watcher sees it.
protocol WatchedStore {
    /// - Throws: `.noPasscode` or `.itemNotFound` if there is nothing that could be locked.
    func lock(_ request: LockRequest) throws(KeychainError)
    /// Says that the watcher is there, and will be for the next minute.
    ///
    /// - Throws: as ``lock(_:)``.
    func renewLease() throws(KeychainError)
}

/// The keychain in its usual place, which is never made by watching it.
final class WatchedKeychain: WatchedStore {
    private let options: StoreOptions
    /// nil: not opened yet, or opened anew with the next request.
    private var session: KeychainSession?

    init(_ options: StoreOptions) { self.options = options }

    func lock(_ request: LockRequest) throws(KeychainError) { try perform(.lock(request)) }

    func renewLease() throws(KeychainError) { try perform(.renewLease) }

    private func perform(_ request: Request) throws(KeychainError) {
        do throws(KeychainError) {
            let session = try existingSession()
            self.session = session
            _ = try session.connection.perform(request)
        } catch {
            // Another store may have taken this one's place.
            session = nil
            throw error
        }
    }

    private func existingSession() throws(KeychainError) -> KeychainSession {
        let session = if let session { session } else { try KeychainSession.existing(options) }
        // Opening would complete a store that is being made at this moment.
        guard StorePresence(session.location) == .present else {
            throw KeychainError(
                .itemNotFound, message: "there is no whole keychain in \(session.location.storeDirectory.path)")
        }
        return session
    }
}
