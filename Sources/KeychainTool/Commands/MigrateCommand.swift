internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel
internal import KeychainTransfer

struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Hand the keychain with all its items to a daemon, or take it back.",
        discussion: """
            To and from this user's keychaind the store changes hands in one step, and nothing is copied. Programs that \
            have it open notice with the next call.

            The system's keychaind has a store of its own, so the items are copied there, compared and deleted here; no \
            program can use them meanwhile. It has to answer, and asks for its passcode or for your password. There all \
            items are in the access group "unconfined", which every program of yours has, and those of that group come \
            back. Protected files and keys made in the keychain cannot go.

            If the command is cut short, the keychain stays closed: run it again. A keychain that changes hands is not \
            unlocked any more.
            """)

    @OptionGroup var store: StoreOptions
    @Option(
        name: .customLong("to"),
        help: ArgumentHelp(
            "The keychain's next host: the programs themselves (embedded), this user's keychaind (user), or the system's "
                + "(system)."))
    var target: StoreHost
    @Flag(help: "Go on even if something has to stay: protected files, keys made in the keychain, damaged items.")
    var leaveBehind = false
    @Flag(help: "To or from the system's keychaind: say what would be done, and change nothing.") var dryRun = false
    @Option(help: ArgumentHelp("The socket of the system's keychaind.", visibility: .hidden)) var socket: String?
    @Flag(help: "Say nothing unless it fails.") var quiet = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        let location = try StoreLocation(store.configuration)
        let line = ProgressLine("Moving")
        defer { line.end() }
        let order = SystemMigration.Order(
            target: target, socket: socket.map { URL(fileURLWithPath: $0) }, leavesBehind: leaveBehind,
            isDryRun: dryRun, readPasscodes: PasscodeInput.read, show: line.show
        ) { note in
            line.end()
            Console.note(note)
        }
        let plan = try order.perform(on: location)
        line.end()
        let report = MigrationReport(host: target, store: location.storeDirectory.path, isDryRun: dryRun, plan: plan)
        if json { return try report.writeJSON() }
        if !quiet { Console.note(report.sentence) }
        if target == .user && !dryRun { noteIfAbsent() }
    }

    private func noteIfAbsent() {
        do throws(KeychainError) {
            _ = try Connection.toUserDaemon.lockStatus()
        } catch {
            // The migration is done all the same. The person has to know that only a daemon gives access to the items.
            Console.note("note: until keychaind runs, nobody can use it: \(error.message)")
        }
    }
}

extension StoreHost: ExpressibleByArgument {
    /// The hosts that a person can choose.
    private static let choices = [embedded, user, system]

    init?(argument: String) {
        guard let host = Self.choices.first(where: { $0.rawValue == argument }) else { return nil }
        self = host
    }

    static var allValueStrings: [String] { choices.map(\.rawValue) }
}
