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

/// Removes expired items now and then, on a thread of its own: the watcher's thread has to lock before the machine
/// sleeps, and must not wait for other programs that write.
enum ExpirySweeper {
    private static let interval = Duration.seconds(20)

    /// Starts the thread, which ends with the process. The next program that writes completes a removal that was cut
    /// short.
    static func start(_ options: StoreOptions) throws(KeychainError) {
        try WorkerThread.start("expiry") {
            var lastTrouble: String?
            while true {
                let trouble = sweep(options)
                if let trouble, trouble != lastTrouble {
                    Console.complain("cannot remove what has expired: \(trouble)")
                }
                lastTrouble = trouble
                WorkerThread.sleep(for: interval)
            }
        }
    }

    /// - Returns: the message of a failure. A keychain that is missing, or not whole yet, is no failure.
    static func sweep(_ options: StoreOptions) -> String? {
        do throws(KeychainError) {
            let session = try KeychainSession.existing(options)
            // A daemon sees to that by itself.
            guard session.isEmbedded, session.presence == .present else { return nil }
            _ = try session.connection.ask(.removeExpired)
            return nil
        } catch {
            return error.code == .itemNotFound ? nil : error.message
        }
    }
}
