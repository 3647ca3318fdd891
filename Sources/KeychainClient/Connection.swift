package import FoundationEssentials
internal import Glibc
package import KeychainModel
internal import KeychainSystem
package import KeychainWire
internal import Synchronization

/// The way to an engine, and the identity of the caller. There are two carriers: the engine in this process, and a
/// socket to a daemon's.
package final class Connection: Sendable {
    /// The connection of the current task, if it has its own: tests are several callers at once.
    @TaskLocal package static var override: Connection?

    private enum Way: Sendable {
        case choosing(@Sendable () throws(KeychainError) -> ChosenHost)
        /// The second value owns the directory of the engine's files, if that is removed with the last connection.
        case engine(any RequestHandler, (any AnyObject & Sendable)?)
    }

    let prompter: any Prompter
    private let way: Way
    private let resolveIdentity: @Sendable () throws(KeychainError) -> CallerIdentity
    private let chosen = Mutex<ChosenHost?>(nil)
    private let handler = Mutex<(any RequestHandler)?>(nil)
    private let known = Mutex<CallerIdentity?>(nil)

    /// A connection that opens its store and establishes its identity with the first request.
    package convenience init(_ configuration: KeychainConfiguration, authority: Caller.Authority = .groups) {
        self.init(configuration, authority: authority) { () throws(KeychainError) in try ChosenHost(configuration) }
    }

    /// - Parameter chooseHost: Asked before the first request, and again when the store has changed hands.
    init(
        _ configuration: KeychainConfiguration, authority: Caller.Authority = .groups,
        chooseHost: @escaping @Sendable () throws(KeychainError) -> ChosenHost
    ) {
        prompter = Embedded.host.prompter
        way = .choosing(chooseHost)
        resolveIdentity = { () throws(KeychainError) in
            var identity = try CallerIdentity(configuration)
            identity.caller.authority = authority
            return identity
        }
    }

    /// A connection to an engine that is there already, or a way to one.
    ///
    /// - Parameter place: The directory of the engine's files, if it is gone with the last connection.
    package init(
        engine: any RequestHandler, caller: Caller, prompter: any Prompter = Embedded.host.prompter,
        place: (any AnyObject & Sendable)? = nil
    ) {
        self.prompter = prompter
        way = .engine(engine, place)
        resolveIdentity = { CallerIdentity(caller: caller, source: .code, entitlementsFile: nil) }
    }

    /// Sends a request and waits for its reply. May be called from any thread; it never waits for a task.
    ///
    /// - Throws: the engine's error, or the reason why the store cannot be opened: that is tried again with the next
    ///   request.
    package func perform(_ request: Request) throws(KeychainError) -> Reply {
        let identity = try identity()
        do throws(KeychainError) {
            return try withHandler { (handler) throws(KeychainError) in
                try handler.handle(request, from: identity.caller)
            }
        } catch  where error.code == .missingEntitlement {
            throw identity.explaining(error, granted: try? granted())
        }
    }

    /// The place where the engine runs. It is chosen once, and anew when the store has changed hands.
    ///
    /// - Throws: `.notAvailable` if the name of a host cannot be understood, or the connection was made to an engine.
    package func host() throws(KeychainError) -> ChosenHost {
        guard case .choosing(let choose) = way else {
            throw KeychainError(.notAvailable, message: "the connection leads to an engine that no host was chosen for")
        }
        return try chosen.cached(choose)
    }

    /// The directory in which the next request would make a store, for questions that only a store can answer. `nil`
    /// means that there is a store.
    package func placeOfMissingStore() throws(KeychainError) -> URL? {
        guard case .choosing = way, handler.withLock({ $0 == nil }), case .embedded(let location) = try host() else {
            return nil
        }
        let names = ["keybag", "keychain.db"].map { location.storeDirectory.appendingPathComponent($0).path }
        return names.contains { FilePath.exists($0) || errno != ENOENT } ? nil : location.storeDirectory
    }

    /// Waits for a lock or an unlock: as the engine's own function of that name. Never to be called by a task.
    package func waitForLockChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 {
        try withHandler { (handler) throws(KeychainError) in
            try handler.waitForLockChange(since: epoch, timeout: timeout)
        }
    }

    /// A number that every lock and unlock changes, if it can be had without asking a daemon.
    package func lockEpoch() -> UInt64? { handler.withLock { $0 }?.lockEpoch() }

    /// Waits at the reader of fingers or faces, in this process or the daemon's.
    func verifyBiometry(
        _ cancellation: Cancellation, hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryTicket {
        let handler: any RequestHandler
        let caller: Caller
        do throws(KeychainError) {
            caller = try identity().caller
            handler = try openHandler()
        } catch {
            throw .failed(error.message)
        }
        return try handler.verifyBiometry(for: caller, cancellation, hint: hint)
    }

    /// The program as a person would know it.
    var programName: String {
        let path = ProcessDescription.current.executable
        return "\(URL(fileURLWithPath: path).lastPathComponent) (\(path))"
    }

    /// Calls the engine's function of that name.
    func listenForLocks() throws(KeychainError) -> any LockListener {
        try withHandler { (handler) throws(KeychainError) in try handler.listenForLocks() }
    }

    /// Calls the engine's function of that name.
    package func listenForChanges() throws(KeychainError) -> any ChangeListener {
        let caller = try identity().caller
        return try withHandler { (handler) throws(KeychainError) in try handler.listenForChanges(as: caller) }
    }

    /// Runs `body`, a second time if the store was handed to another host since it was opened.
    private func withHandler<R>(
        _ body: (any RequestHandler) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        var former: (any RequestHandler)?
        do throws(KeychainError) {
            let present = try openHandler()
            former = present
            return try body(present)
        } catch  where error.signal == .otherHost {
            chosen.withLock { $0 = nil }
            handler.withLock { if $0 === former { $0 = nil } }
            return try body(try openHandler())
        }
    }

    /// The daemon's description of itself; nil: the engine is in this process.
    package func daemon() throws(KeychainError) -> DaemonWelcome? {
        let caller = try identity().caller
        return try withHandler { (handler) throws(KeychainError) in
            try (handler as? SocketCarrier)?.welcome(for: caller)
        }
    }

    /// This program as the system's daemon knows it; nil for another host, which goes by the program's own word.
    package func granted() throws(KeychainError) -> CallerDescription? {
        if case .choosing = way, case .embedded = try host() { return nil }
        guard let welcome = try daemon(), welcome.isBySystem else { return nil }
        return welcome.caller
    }

    /// The access groups that this program holds, in order.
    package func groups() throws(KeychainError) -> [String] { try description().groups }

    /// This program as its host knows it.
    package func description() throws(KeychainError) -> CallerDescription {
        if let granted = try granted() { return granted }
        return try identity().declared
    }

    package func identity() throws(KeychainError) -> CallerIdentity {
        try known.cached(resolveIdentity)
    }

    private func openHandler() throws(KeychainError) -> any RequestHandler {
        try handler.cached { [self] () throws(KeychainError) in
            let choose: @Sendable () throws(KeychainError) -> ChosenHost
            switch way {
            case .engine(let engine, _): return engine
            case .choosing(let choice): choose = choice
            }
            switch try host() {
            case .daemon(let address): return SocketCarrier(address, choice: choose)
            case .embedded(let location):
                let reader = KeychainBiometry.provider.map { ProvidedReader($0) }
                let engine = try Embedded.host.open(location, as: .embedded, biometry: reader)
                ProcessExit.announce(to: engine)
                return engine
            }
        }
    }
}

extension Mutex {
    /// The value held, or else the result of `make`. A failure leaves nothing behind, so the next call tries again.
    fileprivate borrowing func cached<T: Sendable>(
        _ make: @Sendable () throws(KeychainError) -> T
    ) throws(KeychainError) -> T where Value == T? {
        try withLock { value throws(KeychainError) in
            if let value { return value }
            let made = try make()
            value = made
            return made
        }
    }
}
