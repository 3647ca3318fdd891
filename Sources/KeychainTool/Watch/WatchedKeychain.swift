internal import Foundation
internal import KeychainClient
internal import KeychainLogin
internal import KeychainModel
internal import KeychainSystem

/// The keychain in its usual place, which is never made by watching it.
final class WatchedKeychain: LockableStore {
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
            try session.connection.ask(.done(request))
        } catch {
            // Another store may have taken this one's place.
            session = nil
            throw error
        }
    }

    private func existingSession() throws(KeychainError) -> KeychainSession {
        let session = if let session { session } else { try KeychainSession.existing(options) }
        // Opening would complete a store that is being made at this moment.
        guard session.presence == .present else {
            throw KeychainError(.itemNotFound, message: "there is no whole keychain in \(session.host.place)")
        }
        return session
    }
}
