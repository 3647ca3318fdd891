internal import Glibc
internal import KeychainBus
internal import KeychainLogin
internal import KeychainModel
internal import KeychainSystem
internal import Logging

/// Locks the store with the sessions of its user and the system's sleep, on a thread of its own, for as long as there is a
/// systemd-logind to tell of them.
final class SessionThread: Sendable {
    /// How often sessions are looked at anew. logind tells of nearly everything itself.
    private static let interval = Duration.seconds(300)
    /// How soon logind is looked for after it was lost, and how soon at the latest.
    private static let retryIntervals = (first: Duration.seconds(1), last: Duration.seconds(60))

    private let engine: any ChangeSource
    private let user: uid_t
    private let logger: Logger
    private let stopEvent: EventDescriptor
    private let end = EndFlag()
    private let hasEnded = EndFlag()

    init(_ engine: any ChangeSource, of user: uid_t, _ logger: Logger) throws(KeychainError) {
        self.engine = engine
        self.user = user
        self.logger = logger
        stopEvent = try EventDescriptor.make()
    }

    func start() throws(KeychainError) {
        try WorkerThread.start("sessions") { [self] in
            run()
            hasEnded.set()
        }
    }

    /// Locks the store if it was watched. Returns when that is done, or after a few seconds.
    func stop() {
        end.set()
        stopEvent.set()
        hasEnded.wait(for: .seconds(5))
    }

    private func run() {
        var pause = Self.retryIntervals.first
        var wasThere = false
        while !end.isSet {
            do {
                let login = try LoginManager.connect(.allOfUser, user: user)
                (pause, wasThere) = (Self.retryIntervals.first, true)
                try watch(login)
            } catch let error as KeychainError where !wasThere && error.meansNoLoginManager {
                // A machine without logind does not get one, so the search for it ends.
                return logger.notice("nothing locks the store with the session: \(error.message)")
            } catch {
                logger.warning("sessions are not watched at the moment, and will be again")
            }
            end.wait(for: pause)
            pause = min(pause * 2, Self.retryIntervals.last)
        }
    }

    private func watch(_ login: LoginManager) throws {
        defer { engine.setWatched(false) }
        let watcher = SessionWatcher(
            StoreOfDaemon(engine), login, stop: stopEvent.descriptor, interval: Self.interval, endsWithSessions: false,
            log: SessionWatcher.Log(
                event: { [logger] in logger.info("\($0)") }, trouble: { [logger] in logger.warning("\($0)") }))
        try watcher.run { engine.setWatched(true) }
    }
}

/// The daemon's own store, which knows that it is watched without being told again and again.
private struct StoreOfDaemon: LockableStore {
    private let engine: any ChangeSource

    init(_ engine: any ChangeSource) { self.engine = engine }

    func lock(_ request: LockRequest) throws(KeychainError) {
        _ = try engine.handle(.lock(request), from: Caller(groups: [], authority: .owner))
    }

    func renewLease() throws(KeychainError) {}
}

extension KeychainError {
    /// There is no library or no bus to reach one by. One that does not answer may be starting.
    fileprivate var meansNoLoginManager: Bool {
        guard let failure = cause as? BusFailure else { return true }
        return [ELIBACC, ENOENT, ECONNREFUSED].contains(failure.number)
    }
}
