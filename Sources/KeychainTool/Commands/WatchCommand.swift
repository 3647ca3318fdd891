internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import KeychainBus
internal import KeychainClient
internal import KeychainLogin
internal import KeychainModel
internal import KeychainSystem

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Lock the keychain when the session is locked, the system sleeps or the session ends.",
        discussion: """
            It runs until it is told to end or the session is over, and locks the keychain then too. systemd-logind \
            tells it what happens. It never makes a store and never unlocks one; docs/cli.md says how to have it \
            started with every login.
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Say only what fails.") var quiet = false
    @OptionGroup var errors: JSONErrors

    func run() throws {
        if case .daemon = try ChosenHost(store.configuration) {
            // A daemon that does not run is an error, as for every command.
            guard try KeychainSession(store).connection.lockStatus().isWatched else {
                throw KeychainError(.notAvailable, message: LockStatus.warningOfNoLogind)
            }
            Console.note("keychaind has the keychain and locks it with the session: there is nothing to watch")
            return
        }
        // The signals come first: the opening of a store may start a thread, which would take them.
        let signals = try HeldSignals.descriptor(of: [SIGTERM, SIGINT, SIGHUP])
        let login = try LoginManager.connect(
            .ownSession(id: ProcessInfo.processInfo.environment["XDG_SESSION_ID"]))
        var log = SessionWatcher.Log(event: Console.complain, trouble: Console.complain)
        if quiet { log.event = { _ in } }
        let watcher = SessionWatcher(
            WatchedKeychain(store), login, stop: signals, interval: .seconds(20), log: log)
        try ExpirySweeper.start(store)
        do {
            try watcher.run(isReady: Self.announceReadiness)
        } catch is BusFailure {
            throw ToolFailure(message: "stopped watching: start 'keychainctl watch' again")
        }
    }

    /// Tells the service manager, if one started this process and waits for it.
    private static func announceReadiness() {
        let failure = ServiceManager(.process).tellReady()
        if failure != 0 { Console.complain("cannot tell the service manager: \(String(cString: strerror(failure)))") }
    }
}

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
