internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import KeychainDaemon
internal import KeychainLogin
internal import KeychainManifests
internal import KeychainModel
internal import KeychainSystem
internal import Logging

/// The command `keychaind`.
@main
struct KeychainDaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychaind",
        abstract: "Keep unlocked keychains in a process of its own, and answer the programs that use them.",
        discussion: """
            Programs reach it over a socket, which it makes or gets from systemd (keychaind.socket). Unlocked keys are in \
            its memory only, so that its end locks the keychain.

            With --user it serves the programs of its own user alone, at $XDG_RUNTIME_DIR/keychain/socket. With --system \
            it serves every user at /run/keychain/socket, each from a keychain of their own, and gives a program the \
            access groups that the system vouches for. It then runs as a user of its own, and not as root.

            A store belongs either to the daemon or to the programs themselves: 'keychainctl migrate' hands it over.

            SIGUSR1 locks the keychain. SIGTERM, SIGINT and SIGHUP end it once the requests under way are done, with exit status 0. Otherwise the \
            exit status is the low byte of Apple's OSStatus: 53 if there is no store to serve or the socket is taken; \
            64 for a mistake on the command line.
            """,
        version: Release.version)

    @Flag(help: "Serve the keychain of the user that runs this.") var user = false
    @Flag(help: "Serve every user of this machine.") var system = false
    @Option(help: ArgumentHelp("Where to listen.", valueName: "path"), transform: Path.init) var socket: Path?
    @Option(help: ArgumentHelp("The directory of the store.", valueName: "directory"), transform: Path.init)
    var store: Path?
    @Option(help: ArgumentHelp("The directory of the device key.", valueName: "directory"), transform: Path.init)
    var deviceKey: Path?
    @Option(
        help: ArgumentHelp(
            "With --system: the directory of everything; otherwise $STATE_DIRECTORY, or /var/lib/keychain.",
            valueName: "directory"), transform: Path.init)
    var state: Path?
    @Option(
        help: ArgumentHelp(
            "With --system: a directory of manifests, in place of the usual ones. May be given several times.",
            valueName: "directory"), transform: Path.init)
    var manifests: [Path] = []
    @Option(
        help: ArgumentHelp(
            "With socket activation: end after so long without a connection, such as 10m, unless that would lock the "
                + "keychain.", valueName: "time"))
    var idle = IdleTime.none
    @Option(
        help: ArgumentHelp(
            "Log what is at least so important: trace, debug, info (the default), notice, warning, error or critical.",
            valueName: "level"), transform: level)
    var logLevel = Logger.Level.info
    @Flag(
        help: """
            Let the machine hibernate: keep keys in ordinary locked memory. The kernel does not hibernate while a \
            process has memory that is hidden from the kernel itself.
            """)
    var allowHibernation = false

    /// The only way in and out. The steps that need a process with one thread and no secret come first.
    static func main() {
        let environment = Environment.process
        do {
            try ProcessHardening.apply()
            let command = try parse()
            let style = JournalLogHandler.Style.ofStandardError(environment)
            LoggingSystem.bootstrap { _ in JournalLogHandler(style, level: command.logLevel) }
            try command.serve(environment)
        } catch let error as KeychainError {
            Logger(label: "keychaind").critical("\(error.message)")
            Glibc.exit(error.code.status & 0xff)
        } catch {
            // Help, the version, and mistakes on the command line.
            Self.exit(withError: error)
        }
    }

    func validate() throws {
        if user == system { throw ValidationError("Say whom to serve: keychaind --user, or keychaind --system") }
        if system && (store != nil || deviceKey != nil) {
            throw ValidationError("--store and --device-key are for --user: a daemon of the system has --state")
        }
        if user && (state != nil || !manifests.isEmpty) {
            throw ValidationError("--state and --manifests are for --system")
        }
        if system && geteuid() == 0 {
            throw ValidationError(
                "A daemon of the system runs as a user of its own, such as 'keychain', and not as root: whoever broke into "
                    + "it would be root")
        }
    }

    private func serve(_ environment: Environment) throws {
        let logger = Logger(label: "keychaind")
        let signals = try DaemonSignals()
        let listening = try listeningSocket(environment)
        let surroundings = Daemon.Surroundings(
            socket: listening, manager: ServiceManager(environment), signals: signals,
            limits: try limits(listening, logger), release: Release.version, allowsHibernation: allowHibernation,
            logger: logger)
        try (system ? systemDaemon(environment, surroundings) : userDaemon(environment, surroundings)).run()
    }

    private func userDaemon(_ environment: Environment, _ surroundings: Daemon.Surroundings) throws -> Daemon {
        try UserDaemon.make(
            at: try StoreLocation(store: store?.url, deviceKey: deviceKey?.url, environment: environment), surroundings)
    }

    private func systemDaemon(_ environment: Environment, _ surroundings: Daemon.Surroundings) throws -> Daemon {
        let directory = try environment.directory("STATE_DIRECTORY")
        return try SystemDaemon.make(
            state: state?.url ?? directory ?? URL(fileURLWithPath: "/var/lib/keychain"),
            deviceKey: try environment.credential("keychain.device-key"),
            manifests.isEmpty ? .ofSystem : ManifestDirectories(manifests.map(\.url.path), owner: geteuid()),
            surroundings)
    }

    private static func level(_ name: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: name) else { throw ValidationError("There is no level '\(name)'") }
        return level
    }

    private func listeningSocket(_ environment: Environment) throws -> ListeningSocket {
        guard let activated = try ListeningSocket.activated(environment) else {
            if system {
                return try ListeningSocket(at: socket?.url ?? SocketLocation.ofSystem, isForAll: true)
            }
            return try ListeningSocket(at: try socket?.url ?? SocketLocation.ofUser(environment))
        }
        if socket != nil { throw ValidationError("--socket is for a daemon that systemd hands no socket") }
        return activated
    }

    private func limits(_ listening: ListeningSocket, _ logger: Logger) throws -> Limits {
        var limits = system ? Limits.ofSystem : Limits()
        limits.idleTime = idle.duration
        if idle.duration != nil && !listening.isActivated {
            throw ValidationError("--idle is for a daemon that systemd starts: nobody would start this one again")
        }
        let descriptors = ProcessHardening.raiseDescriptorLimit(to: limits.descriptors)
        if descriptors < limits.descriptors {
            limits.fit(descriptors: descriptors)
            logger.warning(
                "only \(limits.connections) connections are possible: this process may have \(descriptors) descriptors")
        }
        return limits
    }
}

/// A path on the command line, as it was from the directory that the command began in.
struct Path {
    let url: URL

    init(_ argument: String) { url = URL(fileURLWithPath: argument) }
}
