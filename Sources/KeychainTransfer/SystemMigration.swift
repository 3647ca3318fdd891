package import FoundationEssentials
internal import Glibc
package import KeychainClient
package import KeychainModel
internal import KeychainSystem

/// The way of a keychain to the system's keychaind, and back.
///
/// The mark of this user's store says `moving` from before the plan to behind the last deletion, and no program uses the
/// store, or finds its way to the system's, until then. So all that is copied once is deleted, nothing else is, and a
/// command that was cut short leaves a closed keychain and goes on when it is run again.
///
/// All items go into the group `unconfined`, and those of that group come back: any program can write items of any group into
/// this user's store, and there the other groups are those of confined programs.
package struct SystemMigration {
    /// The wishes of the person, and the ways to reach them.
    package struct Order {
        let target: StoreHost
        let socket: URL?
        let leavesBehind: Bool
        let isDryRun: Bool
        let readPasscodes: (_ names: [String]) throws -> [SecretBytes]
        let show: (_ done: Int, _ total: Int) -> Void
        let note: (String) -> Void

        /// - Parameters:
        ///   - socket: The socket of the system's keychaind; nil: the usual one.
        ///   - leavesBehind: Whether what cannot go is left where it is.
        ///   - isDryRun: Whether nothing is changed.
        package init(
            target: StoreHost, socket: URL?, leavesBehind: Bool, isDryRun: Bool,
            readPasscodes: @escaping ([String]) throws -> [SecretBytes], show: @escaping (Int, Int) -> Void,
            note: @escaping (String) -> Void
        ) {
            (self.target, self.socket, self.leavesBehind, self.isDryRun) = (target, socket, leavesBehind, isDryRun)
            (self.readPasscodes, self.show, self.note) = (readPasscodes, show, note)
        }
    }

    private let order: Order
    private let location: StoreLocation
    /// The mark as it was found.
    private let mark: StoreHost
    private let system: ItemMove.End
    private let wasSystemLocked: Bool
    /// How the person is asked for this user's own store.
    private let asking = Asking(in: AuthenticationSession(), reason: reason)
    /// A passcode for this user's own store, which has none; otherwise all that the system's has locked would lie open.
    private let newPasscode: SecretBytes?

    private static let reason = "move the items of a keychain"

    private var isToSystem: Bool { order.target == .system }

    /// Asks the daemon first. Both passcodes are read before anything is changed: a script has one standard input, and a
    /// wrong one is told before any program is kept out.
    ///
    /// - Throws: `.notAvailable` if the system's keychaind does not answer, or if programs do not go by this store's mark.
    init(_ order: Order, _ location: StoreLocation, _ mark: StoreHost) throws {
        (self.order, self.location, self.mark) = (order, location, mark)
        if let detour = try location.detour(from: order.target) {
            // A move that was cut short can be completed in any case.
            guard mark.isMoving else { throw KeychainError(.notAvailable, message: "\(detour). Nothing was changed") }
            order.note("note: \(detour)")
        }
        var configuration = KeychainConfiguration()
        configuration.host = order.socket.map { .socket($0) } ?? .system
        system = ItemMove.End(
            connection: Connection(configuration, authority: .owner),
            asking: Asking(in: AuthenticationSession(), reason: Self.reason), group: Caller.unconfinedGroup)
        let status = try system.connection.lockStatus()
        wasSystemLocked = status.state != .unlocked
        let home = StorePresence(location) == .absent ? nil : try location.connection(as: mark)
        let hasPasscode = try home?.lockStatus().hasPasscode == true
        if order.target == .system && hasPasscode && !status.hasPasscode { throw KeychainError.opensHere }
        let names = [(hasPasscode, "this keychain"), (status.hasPasscode, "the system's keychain")]
        let passcodes = try order.readPasscodes(names.filter(\.0).map { "Passcode of \($0.1)" })
        if hasPasscode, let passcode = passcodes.first {
            asking.session?.keep(passcode: passcode)
            _ = try home?.ask(.verify(AuthenticationProof(passcode: passcode)))
        }
        if status.hasPasscode, let passcode = passcodes.last {
            system.asking.session?.keep(passcode: passcode)
        }
        try system.unlock()
        newPasscode = status.hasPasscode && !hasPasscode && order.target != .system ? passcodes.last : nil
    }

    /// - Returns: the items that have moved, or would move.
    func run() throws -> ItemMove.Plan {
        let plan = Result { try order.isDryRun ? rehearsed() : moved() }
        do {
            if wasSystemLocked { try system.connection.lock(.now) }
        } catch {
            order.note("note: the system's keychain is not locked again: \(error.message)")
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
            try move.copy(plan) { order.show($0, plan.count) }
            if isToSystem && home != nil {
                try give(home, to: .moved)
                try forget(.system)
            } else {
                try move.removeFromSource(plan)
                try give(home, to: order.target)
            }
            return plan
        } catch {
            if mark.isMoving { throw error }
            // If nothing was copied, programs have the store again.
            if mayHaveCopied || (try? give(home, to: mark)) == nil {
                throw KeychainError(cutShort: error, order.target)
            }
            throw error
        }
    }

    private func move(_ home: ItemMove.End?) -> ItemMove {
        isToSystem
            ? ItemMove(source: home, target: system, group: system.group, leavesBehind: order.leavesBehind)
            : ItemMove(source: system, target: home, leavesBehind: order.leavesBehind)
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

// MARK: - Every way

extension SystemMigration.Order {
    /// Hands the keychain to its next host. Only on the way to and from the system's keychaind are items copied.
    ///
    /// - Returns: the items that have moved, or would move; nil: no item was copied.
    package func perform(on location: StoreLocation) throws -> ItemMove.Plan? {
        let present = try StoreHost(ofStore: location.storeDirectory)
        if target == .system || present == .system || present.isMoving {
            if present == .user { throw KeychainError.isOfUser(location.storeDirectory) }
            do {
                return try SystemMigration(self, location, present).run()
            } catch let error as KeychainError where present.isMoving {
                throw KeychainError(cutShort: error, target)
            }
        }
        if isDryRun {
            throw KeychainError(.parameter, message: "nothing is copied on this way: --dry-run has nothing to say")
        }
        try location.requireNoDetour(from: present, to: target)
        if target == .user {
            try location.handOver(from: present, to: .user)
        } else if let daemon = try daemon(of: location) {
            try daemon.ask(.done(.giveUpStore))
        } else {
            try location.handOver(to: .embedded)
        }
        return nil
    }

    /// The daemon that has this very store; nil: none that runs.
    private func daemon(of location: StoreLocation) throws(KeychainError) -> Connection? {
        let daemon = Connection.toUserDaemon
        do throws(KeychainError) {
            let store = URL(fileURLWithPath: try daemon.ask(.status).storePath)
            return store.standardizedFileURL.path == location.storeDirectory.standardizedFileURL.path ? daemon : nil
        } catch  where error.code == .notAvailable {
            return nil
        }
    }
}

extension Connection {
    /// The way to this user's keychaind, as the owner.
    package static var toUserDaemon: Connection {
        var configuration = KeychainConfiguration()
        configuration.host = .user
        return Connection(configuration, authority: .owner)
    }
}

extension KeychainError {
    fileprivate static func isOfUser(_ store: URL) -> KeychainError {
        KeychainError(
            .notAvailable,
            message:
                "the keychain in \(store.path) belongs to this user's keychaind: take it back first with 'keychainctl "
                + "migrate --to embedded'")
    }

    fileprivate static var opensHere: KeychainError {
        KeychainError(
            .noPasscode,
            message:
                "this keychain has a passcode, and the system's has none: what is locked here would lie open there. Set one "
                + "first with 'KEYCHAIN_HOST=system keychainctl passcode set'. Nothing was changed")
    }

    /// The error of a move that has begun.
    fileprivate init(cutShort error: any Error, _ target: StoreHost) {
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
