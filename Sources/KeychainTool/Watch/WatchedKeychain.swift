internal import FoundationEssentials
internal import KeychainClient
internal import KeychainLogin
internal import KeychainModel
internal import KeychainSystem

/// The keychain that is watched. The watch never makes one.
final class WatchedKeychain: LockableStore {
    private let options: StoreOptions
    /// nil: the next request opens the keychain.
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
            // Another store may have taken the place of this one.
            session = nil
            throw error
        }
    }

    private func existingSession() throws(KeychainError) -> KeychainSession {
        let session = if let session { session } else { try KeychainSession.existing(options) }
        // The opening would complete a store that another program is making.
        guard session.presence == .present else {
            throw KeychainError(.itemNotFound, message: "there is no whole keychain in \(session.host.place)")
        }
        return session
    }
}
