internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel
internal import KeychainSystem

struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Hand the keychain with all its items to a daemon, or take it back.",
        discussion: """
            The store stays where it is and changes hands in one step, so nothing is copied and nothing can be lost on \
            the way; whoever has it open notices with the next call. If the command is cut short, run it again.

            A keychain that changes hands is not unlocked any more: the next unlock is with its new host.
            """)

    enum Target: String, ExpressibleByArgument, CaseIterable { case embedded, user }

    @OptionGroup var store: StoreOptions
    @Option(
        name: .customLong("to"),
        help: "Who has it from now on: the programs themselves (embedded), or this user's keychaind (user).")
    var target: Target
    @Flag(help: "Say nothing unless it fails.") var quiet = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        let location = try StoreLocation(store.configuration)
        switch target {
        case .user: try handToDaemon(location)
        case .embedded: try takeBack(location)
        }
        guard json else { return }
        try JSONValue.object([
            ("host", target.rawValue.json), ("store", location.storeDirectory.path.json),
        ]).writeJSON()
    }

    private func handToDaemon(_ location: StoreLocation) throws {
        try location.giveToUserDaemon()
        tell("the keychain in \(location.storeDirectory.path) belongs to this user's keychaind now")
        do throws(KeychainError) {
            _ = try Connection(daemonConfiguration, authority: .owner).lockStatus()
        } catch {
            // The migration is done all the same. The person has to know that only a daemon gives access to the items.
            Console.note("note: until keychaind runs, nobody can use it: \(error.message)")
        }
    }

    private func takeBack(_ location: StoreLocation) throws {
        let daemon = Connection(daemonConfiguration, authority: .owner)
        if try has(location, daemon) {
            try daemon.ask(.done(.giveUpStore))
        } else {
            try location.takeFromUserDaemon()
        }
        tell("the keychain in \(location.storeDirectory.path) belongs to the programs that use it now")
    }

    /// Whether a daemon runs and has this very store.
    private func has(_ location: StoreLocation, _ daemon: Connection) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            return URL(fileURLWithPath: try daemon.ask(.status).storePath).standardizedFileURL.path
                == location.storeDirectory.standardizedFileURL.path
        } catch  where error.code == .notAvailable {
            return false
        }
    }

    private var daemonConfiguration: KeychainConfiguration {
        var configuration = KeychainConfiguration()
        configuration.host = .user
        return configuration
    }

    private func tell(_ text: String) {
        if !quiet && !json { Console.note(text) }
    }
}
