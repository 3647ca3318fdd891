internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import KeychainDaemon
internal import KeychainModel
internal import KeychainSystem
internal import Logging

/// The command `keychaind`.
@main
struct KeychainDaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychaind",
        abstract: "Keep the unlocked keychain of a user in a process of its own, and answer the programs that use it.",
        discussion: """
            Programs reach it over a socket, $XDG_RUNTIME_DIR/keychain/socket, which it makes or gets from systemd \
            (keychaind.socket). It serves the programs of its own user alone. Unlocked keys are in its memory only, so \
            that its end locks the keychain.

            A store belongs either to the daemon or to the programs themselves: 'keychainctl migrate' hands it over.

            SIGUSR1 locks the keychain. SIGTERM, SIGINT and SIGHUP end it once the requests under way are done, with exit status 0. Otherwise the \
            exit status is the low byte of Apple's OSStatus: 53 if there is no store to serve or the socket is taken; \
            64 for a mistake on the command line.
            """,
        version: Release.version)

    @Flag(help: "Serve the keychain of the user that runs this.") var user = false
    @Flag(help: "Serve every user of this machine. This version cannot.") var system = false
    @Option(help: ArgumentHelp("Where to listen.", valueName: "path"), transform: Path.init) var socket: Path?
    @Option(help: ArgumentHelp("The directory of the store.", valueName: "directory"), transform: Path.init)
    var store: Path?
    @Option(help: ArgumentHelp("The directory of the device key.", valueName: "directory"), transform: Path.init)
    var deviceKey: Path?
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
        if system { throw ValidationError("This version serves single users only: keychaind --user") }
        if !user { throw ValidationError("Say whom to serve: keychaind --user") }
    }

    private func serve(_ environment: Environment) throws {
        let logger = Logger(label: "keychaind")
        let signals = try DaemonSignals()
        let listening = try listeningSocket(environment)
        let daemon = try UserDaemon(
            at: try StoreLocation(store: store?.url, deviceKey: deviceKey?.url, environment: environment),
            socket: listening, manager: ServiceManager(environment), signals: signals,
            limits: try limits(listening, logger),
            release: Release.version, allowsHibernation: allowHibernation, logger: logger)
        try daemon.run()
    }

    private static func level(_ name: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: name) else { throw ValidationError("There is no level '\(name)'") }
        return level
    }

    private func listeningSocket(_ environment: Environment) throws -> ListeningSocket {
        guard let activated = try ListeningSocket.activated(environment) else {
            return try ListeningSocket(at: try socket?.url ?? SocketLocation.ofUser(environment))
        }
        if socket != nil { throw ValidationError("--socket is for a daemon that systemd hands no socket") }
        return activated
    }

    private func limits(_ listening: ListeningSocket, _ logger: Logger) throws -> Limits {
        var limits = Limits()
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
