internal import ArgumentParser
internal import CKeychainBus
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
        let result = ckeychain_bus_notify("READY=1")
        if result < 0 {
            Console.complain("cannot tell the service manager: \(String(cString: strerror(-result)))")
        }
    }
}
