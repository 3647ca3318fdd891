internal import FoundationEssentials
internal import Glibc
internal import KeychainClient
internal import KeychainModel
internal import KeychainSystem

/// The way of a keychain to the system's keychaind, and back.
///
/// The mark of this user's store says `moving` from before the plan to behind the last deletion, and no program uses the
/// store, or finds its way to the system's, until then. So all that is copied once is deleted, nothing else is, and a
/// command that was cut short leaves a closed keychain and goes on when it is run again.
///
/// All items go into the group `unconfined`, and those of that group come back: any program can write items of any group into
/// this user's store, and there the other groups are those of confined programs.
struct SystemMigration {
    private let command: MigrateCommand
    private let location: StoreLocation
    /// The mark as it was found.
    private let mark: StoreHost
    private let system: ItemMove.End
    private let wasSystemLocked: Bool
    /// How the person is asked for this user's own store.
    private let asking = Asking.once(reason: reason, mayAsk: true)
    /// A passcode for this user's own store, which has none; otherwise all that the system's has locked would lie open.
    private let newPasscode: SecretBytes?

    private static let reason = "move the items of a keychain"

    private var isToSystem: Bool { command.target == .system }

    /// Asks the daemon first. Both passcodes are read before anything is changed: a script has one standard input, and a
    /// wrong one is told before any program is kept out.
    ///
    /// - Throws: `.notAvailable` if the system's keychaind does not answer, or if programs do not go by this store's mark.
    init(_ command: MigrateCommand, _ location: StoreLocation, _ mark: StoreHost) throws {
        (self.command, self.location, self.mark) = (command, location, mark)
        if let detour = try location.detour(from: command.target.host) {
            // A move that was cut short can be completed in any case.
            guard mark.isMoving else { throw KeychainError(.notAvailable, message: "\(detour). Nothing was changed") }
            Console.note("note: \(detour)")
        }
        var configuration = KeychainConfiguration()
        configuration.host = command.socket.map { .socket(URL(fileURLWithPath: $0)) } ?? .system
        system = ItemMove.End(
            connection: Connection(configuration, authority: .owner), asking: .once(reason: Self.reason, mayAsk: true),
            group: Caller.unconfinedGroup)
        let status = try system.connection.lockStatus()
        wasSystemLocked = status.state != .unlocked
        let home = StorePresence(location) == .absent ? nil : try location.connection(as: mark)
        let hasPasscode = try home?.lockStatus().hasPasscode == true
        if command.target == .system && hasPasscode && !status.hasPasscode { throw KeychainError.opensHere }
        let names = [(hasPasscode, "this keychain"), (status.hasPasscode, "the system's keychain")]
        let passcodes = try PasscodeInput.read(names.filter(\.0).map { "Passcode of \($0.1)" })
        if hasPasscode, let passcode = passcodes.first {
            asking.session?.keep(passcode: passcode)
            _ = try home?.ask(.verify(AuthenticationProof(passcode: passcode)))
        }
        if status.hasPasscode, let passcode = passcodes.last {
            system.asking.session?.keep(passcode: passcode)
        }
        try system.unlock()
        newPasscode = status.hasPasscode && !hasPasscode && command.target != .system ? passcodes.last : nil
    }

    /// - Returns: the items that have moved, or would move.
    func run() throws -> ItemMove.Plan {
        let plan = Result { try command.dryRun ? rehearsed() : moved() }
        do {
            if wasSystemLocked { try system.connection.lock(.now) }
        } catch {
            Console.note("note: the system's keychain is not locked again: \(error.message)")
        }
        return try plan.get()
    }

    // MARK: The steps

    private func rehearsed() throws -> ItemMove.Plan {
        if StorePresence(location) == .absent { return try move(nil).plan() }
        let home = try end(mark)
        // The programs' own store would be open to all of them.
        if mark != .embedded { try home.unlock() }
        return try move(home).plan()
    }

    private func moved() throws -> ItemMove.Plan {
        // The daemon knows moves, and the owner agrees, before any program is kept out.
        _ = try system.ask(.removeMoved([]))
        if !mark.isMoving { try location.handOver(from: mark, to: .moving) }
        if mark == .moved { try forget(.moving) }
        // An earlier move that was cut short may have copied something.
        var mayHaveCopied = mark.isMoving
        var home: ItemMove.End?
        do {
            if !isToSystem { try endConnections() }
            if !isToSystem || StorePresence(location) != .absent { home = try opened(.moving) }
            let move = move(home)
            let plan = try move.plan()
            mayHaveCopied = true
            if let newPasscode {
                try home?.connection.perform(.set(newPasscode)) { _ in }
                asking.session?.keep(passcode: newPasscode)
            }
            let line = ProgressLine("Moving")
            defer { line.end() }
            try move.copy(plan) { line.show($0, of: plan.count) }
            if isToSystem && home != nil {
                try give(home, to: .moved)
                try forget(.system)
            } else {
                try move.removeFromSource(plan)
                try give(home, to: command.target.host)
            }
            return plan
        } catch {
            if mark.isMoving { throw error }
            // If nothing was copied, programs have the store again.
            if mayHaveCopied || (try? give(home, to: mark)) == nil {
                throw KeychainError(cutShort: error, command.target)
            }
            throw error
        }
    }

    private func move(_ home: ItemMove.End?) -> ItemMove {
        isToSystem
            ? ItemMove(source: home, target: system, group: system.group, leavesBehind: command.leaveBehind)
            : ItemMove(source: system, target: home, leavesBehind: command.leaveBehind)
    }

    // MARK: This user's own store

    private func end(_ mark: StoreHost) throws(KeychainError) -> ItemMove.End {
        ItemMove.End(connection: try location.connection(as: mark), asking: asking)
    }

    /// The store while it is closed to programs.
    private func opened(_ mark: StoreHost) throws -> ItemMove.End {
        let home = try end(mark)
        try home.unlock()
        // It waits for the last write of a program that was under way.
        _ = try home.ask(.removeMoved([]))
        return home
    }

    /// Deletes what lies in the system's keychain by the word of the mark, whatever has become of it there since.
    private func forget(_ next: StoreHost) throws {
        let home = try opened(.moved)
        let rest = ItemMove(source: home, target: nil, leavesBehind: true)
        try rest.removeFromSource(rest.plan())
        try give(home, from: .moved, to: next)
    }

    private func give(_ home: ItemMove.End?, from former: StoreHost = .moving, to next: StoreHost) throws {
        try home?.ask(.done(.giveUpStore))
        try location.handOver(from: former, to: next)
    }

    // MARK: The system's keychain

    /// Ends the connections of programs, which find the mark then, and waits until the last one that had a request under
    /// way is gone: the store is opened anew, without keys.
    private func endConnections() throws {
        try system.ask(.done(.giveUpStore))
        for attempt in 1... {
            do throws(KeychainError) {
                _ = try system.connection.lockStatus()
                break
            } catch {
                guard error.signal == .otherHost, attempt < 100 else { throw error }
                usleep(100_000)
            }
        }
        try system.unlock()
    }
}

extension KeychainError {
    fileprivate static var opensHere: KeychainError {
        KeychainError(
            .noPasscode,
            message:
                "this keychain has a passcode, and the system's has none: what is locked here would lie open there. Set one "
                + "first with 'KEYCHAIN_HOST=system keychainctl passcode set'. Nothing was changed")
    }

    /// The error of a move that has begun.
    init(cutShort error: any Error, _ target: MigrateCommand.Target) {
        let cause = (error as? KeychainError) ?? KeychainError(.internalFailure, message: "\(error)")
        self.init(
            cause.code,
            message:
                "\(cause.message). Nothing is lost, and the keychain stays closed until this is done: run 'keychainctl "
                + "migrate --to \(target.rawValue)' again"
                + (target == .system ? ", or '--to embedded' to bring everything back" : ""),
            cause: cause)
    }
}

struct MigrationReport: Report {
    static let fields: [Field<Self>] =
        [
            Field("host", "as `--to` says") { $0.host.rawValue }, Field("store", "the store's directory") { $0.store },
            Field("dryRun", "whether nothing was changed") { $0.isDryRun },
        ] + ItemMove.Plan.fields.of { $0.plan }

    let host: MigrateCommand.Target
    let store: String
    let isDryRun: Bool
    /// nil: no item was copied.
    let plan: ItemMove.Plan?

    var text: String { TerminalText.escape(sentence) + "\n" }

    var sentence: String {
        let owner =
            switch host {
            case .embedded: "the programs that use it"
            case .user: "this user's keychaind"
            case .system: "the system's keychaind"
            }
        let details = plan.map { plan in
            counted(plan.count, "item") + (isDryRun ? " would go" : " moved")
                + (plan.leftInWords.map { "; left behind, and not usable now: \($0)" } ?? "")
        }
        if isDryRun { return "\(details ?? "") (dry run: nothing was changed)" }
        return "the keychain in \(store) belongs to \(owner) now" + (details.map { ": \($0)" } ?? "")
    }
}
