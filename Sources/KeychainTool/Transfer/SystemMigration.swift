internal import FoundationEssentials
internal import Glibc
internal import KeychainClient
internal import KeychainManifests
internal import KeychainModel
internal import KeychainSystem

/// The way of a keychain to the system's keychaind, and back.
///
/// The mark in the store's directory says which of the two the programs use. It changes between two moves: the first one
/// copies everything, and the second one copies what came last, when no program uses the source any more, and deletes.
struct SystemMigration {
    private let command: MigrateCommand
    private let location: StoreLocation
    private let mark: StoreHost
    private let system: ItemMove.End
    /// How the person is asked for this user's own store.
    private let asking = Self.asking()
    private let line = ProgressLine("Moving")

    /// Both passcodes are read before anything else, since a script has one standard input.
    ///
    /// - Throws: `.notAvailable` if the system's keychaind does not answer.
    init(_ command: MigrateCommand, _ location: StoreLocation, _ mark: StoreHost) throws {
        (self.command, self.location, self.mark) = (command, location, mark)
        var configuration = KeychainConfiguration()
        configuration.host = command.socket.map { .socket(URL(fileURLWithPath: $0)) } ?? .system
        system = ItemMove.End(
            connection: Connection(configuration, authority: .owner), asking: Self.asking())
        var places: [(name: String, session: AuthenticationSession?)] = []
        if StorePresence(location) != .absent, try own(mark).lockStatus().hasPasscode {
            places.append(("Passcode of this keychain", asking.session))
        }
        do throws(KeychainError) {
            if try system.connection.lockStatus().hasPasscode {
                places.append(("Passcode of the system's keychain", system.asking.session))
            }
        } catch {
            throw KeychainError(error.code, message: "\(error.message). Nothing was changed", cause: error)
        }
        for (place, passcode) in zip(places, try PasscodeInput.read(places.map(\.name))) {
            place.session?.keep(passcode: passcode)
        }
        try system.connection.unlock(system.asking)
    }

    /// Moves everything to the system's keychaind.
    func leave(_ report: inout MigrationReport) throws {
        let isThere = StorePresence(location) != .absent
        if mark == .embedded && isThere {
            try withEmbedded { own in
                if !command.leaveBehind { try requireNoFiles() }
                try copy(from: own, to: system, &report)
            }
        }
        if command.dryRun { return }
        if mark == .embedded { try location.leaveToSystem() }
        if Self.hasRest(location) { try FileManager.default.removeItem(at: Self.rest(location)) }
        if isThere { try finish(from: try unlocked(try own(.system)), to: system, &report) }
    }

    /// Moves everything back.
    func takeBack(_ report: inout MigrationReport) throws {
        var left: ItemMove.End? = try unlocked(try own(.system))
        try left.map { try copy(from: system, to: $0, &report) }
        if command.dryRun { return }
        close(try OwnFile.make(Self.rest(location)))
        // Its end lets go of the store.
        try left?.connection.ask(.done(.giveUpStore))
        left = nil
        try location.takeFromUserDaemon()
        try takeRest(&report)
    }

    /// The file that is there while the programs use this store again, and the system's has its items still.
    private static func rest(_ location: StoreLocation) -> URL {
        location.storeDirectory.appendingPathComponent("taken-back")
    }

    /// Whether a way back was cut short.
    static func hasRest(_ location: StoreLocation) -> Bool { FilePath.exists(rest(location).path) }

    func takeRest(_ report: inout MigrationReport) throws {
        // Programs that have a connection choose their host anew. The keys are gone with it.
        try system.connection.ask(.done(.giveUpStore), system.asking)
        try waitForOpening()
        try system.connection.unlock(system.asking)
        try withEmbedded { try finish(from: system, to: $0, &report) }
        try FileManager.default.removeItem(at: Self.rest(location))
        if command.target == .user { try location.giveToUserDaemon() }
    }

    /// Waits until the last client of the given-up store has gone, which may have a request under way: then the store is
    /// opened anew.
    private func waitForOpening() throws(KeychainError) {
        for attempt in 1... {
            do throws(KeychainError) {
                _ = try system.connection.lockStatus()
                return
            } catch {
                guard error.signal == .otherHost, attempt < 100 else { throw error }
                usleep(100_000)
            }
        }
    }

    // MARK: Moves

    private func copy(from source: ItemMove.End, to target: ItemMove.End, _ report: inout MigrationReport) throws {
        let move = move(from: source, to: target, leavesBehind: command.leaveBehind)
        let plan = try move.plan()
        report.count(plan)
        if !command.dryRun { try copy(plan, move) }
    }

    private func finish(from source: ItemMove.End, to target: ItemMove.End, _ report: inout MigrationReport) throws {
        let move = move(from: source, to: target, leavesBehind: true)
        let plan = try move.plan()
        try copy(plan, move)
        try move.removeFromSource(plan)
        report.count(plan)
    }

    private func copy(_ plan: ItemMove.Plan, _ move: ItemMove) throws {
        defer { line.end() }
        try move.copy(plan) { line.show($0, of: $1) }
    }

    private func move(from source: ItemMove.End, to target: ItemMove.End, leavesBehind: Bool) -> ItemMove {
        var move = ItemMove(source: source, target: target, leavesBehind: leavesBehind)
        guard command.target == .system else { return move }
        let granted = command.places.directories.read().manifests.flatMap(\.groups)
        move.group = { granted.containsGroup($0) ? $0 : "unconfined" }
        return move
    }

    private func requireNoFiles() throws {
        guard try location.hasProtectedFiles() else { return }
        throw KeychainError(
            .notAvailable,
            message:
                "files were protected with this keychain, and only with it do they open: 'keychainctl file unprotect' "
                + "them first. With --leave-behind they stay as they are, out of reach until the keychain is taken back. "
                + "Nothing was changed")
    }

    // MARK: This user's own store

    private static func asking() -> Asking { .once(reason: "move the items of a keychain", mayAsk: true) }

    private func own(_ mark: StoreHost) throws(KeychainError) -> Connection {
        if mark == .system { return try location.connectionToLeftStore() }
        var configuration = command.store.configuration
        configuration.host = .embedded
        return Connection(configuration, authority: .owner)
    }

    private func unlocked(_ connection: Connection) throws(KeychainError) -> ItemMove.End {
        try connection.unlock(asking)
        return ItemMove.End(connection: connection, asking: asking)
    }

    /// Runs `body` with the store that the programs use. It is locked afterwards if it was before.
    private func withEmbedded(_ body: (ItemMove.End) throws -> Void) throws {
        let connection = try own(.embedded)
        let wasLocked = try connection.lockStatus().state != .unlocked
        let result = Result { try body(try unlocked(connection)) }
        if wasLocked { try connection.lock(.now) }
        try result.get()
    }
}

struct MigrationReport: Report {
    static let fields: [Field<Self>] = [
        Field("host", "as `--to` says") { $0.host.rawValue },
        Field("store", "the store's directory") { $0.store },
        Field("dryRun", "to or from the system's keychaind: whether nothing was changed", when: \.isOfSystem) {
            $0.isDryRun
        },
        Field("moved", "… the number of items that went there", when: \.isOfSystem) { $0.moved },
        Field("unconfined", "… how many of them are in the group `unconfined` now", when: \.isOfSystem) {
            $0.regrouped
        },
        Field("leftBehind", "… how many stay where they are: as `leftOut` above", when: \.isOfSystem) { $0.leftOut },
    ]

    let host: MigrateCommand.Target
    let store: String
    let isDryRun: Bool
    let isOfSystem: Bool
    private var moved = 0
    private var regrouped = 0
    private var leftOut = LeftOut()

    init(host: MigrateCommand.Target, store: String, isDryRun: Bool, isOfSystem: Bool) {
        (self.host, self.store, self.isDryRun, self.isOfSystem) = (host, store, isDryRun, isOfSystem)
    }

    /// The second move of the same items counts in place of the first one.
    mutating func count(_ plan: ItemMove.Plan) {
        (moved, regrouped, leftOut) = (plan.items.count, plan.regrouped, plan.leftOut)
    }

    var text: String { TerminalText.escape(sentence) + "\n" }

    var sentence: String {
        let owner =
            switch host {
            case .embedded: "the programs that use it"
            case .user: "this user's keychaind"
            case .system: "the system's keychaind"
            }
        let items = isDryRun ? "\(counted(moved, "item")) would go" : "\(counted(moved, "item")) moved"
        let shared = regrouped > 0 ? ", \(regrouped) of them to the group unconfined" : ""
        let details = items + shared + (leftOut.inWords.map { "; left behind: \($0)" } ?? "")
        if isDryRun { return "\(details) (dry run: nothing was changed)" }
        return "the keychain in \(store) belongs to \(owner) now\(isOfSystem ? ": " + details : "")"
    }
}
