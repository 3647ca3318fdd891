internal import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel
internal import KeychainSystem
internal import Logging
internal import Synchronization

/// Everything behind a request: policy, keys and the store, with one way in.
///
/// The engine never waits for a person and does not know how a request came. Any number of threads may call it at once,
/// and any number of processes may have an engine on the same store.
package final class Engine: RequestHandler {
    let store: ItemStore
    let keys: KeyStore
    let configuration: EngineConfiguration
    let logger = Logger(label: "keychain.engine")
    let rekeying = Mutex(Rekeying())
    let signal = ChangeSignal()
    let changes: ChangeFeed
    let biometry: BiometryDesk
    /// Held while an application password is tried: many at once would all be tried before the first is counted.
    private let passwordTurn = Condition()
    private let filesAreNoted = Atomic(false)
    /// nil if programs open the store themselves, or the daemon gave it up.
    private let possession: BriefLock<DaemonLock?>

    /// The generation of the process that made the program's first engine.
    private static let forkGeneration = ForkGeneration.current
    /// Whether this process was forked from one that had an engine, and still runs the same program.
    private static var isForkedChild: Bool { ForkGeneration.current != forkGeneration }

    /// Opens the store, making it if there is none.
    ///
    /// - Throws: `.notAvailable` if the store's place has something that cannot be opened: a store of a newer version,
    ///   no database, no permission, a missing or foreign key. The files are left untouched.
    package init(_ configuration: EngineConfiguration) throws(KeychainError) {
        _ = Self.forkGeneration
        defer { KeyTraces.erase() }
        let opened = try StoreOpener(configuration).open(signal)
        self.configuration = configuration
        changes = ChangeFeed(signal)
        self.store = opened.store
        self.keys = opened.keys
        biometry = BiometryDesk(configuration.clock)
        possession = BriefLock(opened.daemonLock)
    }

    /// How often a request is tried while other processes renew the keys without a pause.
    private static let mostAttempts = 30

    /// Carries out a request of a caller.
    ///
    /// - Returns: a challenge if an item needs authentication that is missing, and the query does not forbid to ask.
    /// - Throws: a `KeychainError` with the status that Apple's keychain gives in the same case. After any
    ///   error the store is as it was before the call.
    package func handle(_ request: Request, from caller: Caller) throws(KeychainError) -> Reply {
        try handle(request, from: caller, within: nil)
    }

    /// - Parameter mostBytes: The most bytes of the reply; nil: as many as memory holds.
    func handle(_ request: Request, from caller: Caller, within mostBytes: Int?) throws(KeychainError) -> Reply {
        // A forked child has neither the keys, which the kernel wipes, nor a database connection it may use.
        guard !Self.isForkedChild else {
            throw KeychainError(
                .notAvailable, message: "a forked process cannot use the keychain that its parent opened")
        }
        defer { KeyTraces.erase() }
        try requirePossession()
        if case .resolve(let request) = request { return .resolved(try resolve(request, from: caller, mostBytes)) }
        guard case .authenticated(let proof, let request) = request else {
            return try answer(request, from: caller, unauthenticated, mostBytes)
        }
        if proof.applicationPassword != nil { passwordTurn.lock() }
        defer { if proof.applicationPassword != nil { passwordTurn.unlock() } }
        let shown = try asKeychainError { try authentication(proof, caller) }
        do throws(KeychainError) {
            let reply = try answer(request, from: caller, shown, mostBytes)
            if shown.applicationPasswordIsRight { try asKeychainError { try keys.noteRightPassword() } }
            return reply
        } catch  where error.signal == .wrongApplicationPassword {
            try asKeychainError { try keys.noteWrong(shown.applicationPassword!) }  // it was wrong
            throw error
        }
    }

    /// The largest answer to a name, since no memory is reserved for the results of several searches. A client whose
    /// name has more matches sends the searches one by one.
    private static let mostBytesOfResolution = 256 << 10

    private func resolve(
        _ request: ResolveRequest, from caller: Caller, _ mostBytes: Int?
    ) throws(KeychainError) -> Resolution {
        var bytes = 0
        return try request.resolved { query throws(KeychainError) in
            let find = Request.find(FindRequest(query, wantsSecrets: false))
            guard case .found(let items) = try answer(find, from: caller, unauthenticated, mostBytes) else { return [] }
            bytes += items.reduce(0) { $0 + $1.byteCount }
            guard bytes <= Self.mostBytesOfResolution else {
                throw KeychainError(.dataTooLarge, message: "too many items have the name")
            }
            return items
        }
    }

    private func asKeychainError<R>(_ body: () throws -> R) throws(KeychainError) -> R {
        do { return try body() } catch { throw KeychainError(engineFailure: error) }
    }

    /// Carries out a request, as often as a signal says that another attempt may help.
    private func answer(
        _ request: Request, from caller: Caller, _ shown: Authentication, _ mostBytes: Int?
    ) throws(KeychainError) -> Reply {
        var attempts = 0
        var isLast = false
        var generation: UInt64?
        while true {
            do throws(KeychainError) {
                let reply = try reply(
                    to: request, from: caller, Attempt(shown: shown, mostBytes: mostBytes, isLast: isLast))
                changes.note(request, reply, from: caller)
                return reply
            } catch {
                switch error.signal {
                case .needs(let challenge): return .authenticationNeeded(challenge)
                case .lookAtReader where !shown.isBiometryKnown: shown.lookAtBiometry()
                case .staleKeys where !isLast:
                    // Each lock, unlock and change of the keybag by another process can make one attempt stale. If the
                    // keybag has not changed since the attempt before, a further one finds no other keys.
                    keys.forgetSnapshot()
                    attempts += 1
                    let present = try keys.begin().snapshot.bag.generation
                    isLast = attempts == Self.mostAttempts || attempts > 2 && present == generation
                    generation = present
                default: throw error
                }
            }
        }
    }

    /// Carries out a request once, with the present keys.
    private func reply(
        to request: Request, from caller: Caller, _ attempt: Attempt
    ) throws(KeychainError) -> Reply {
        do {
            if let work = request.ownersWork(on: configuration.host) {
                try AccessPolicy(caller: caller).requireOwner(
                    work, hasShownPasscode: attempt.shown.hasShownPasscode,
                    hasPasscode: try keys.begin().snapshot.bag.passcode != nil)
            }
            switch request {
            case .add(let request):
                return .added(try withItems(attempt) { try $0.add(request, from: caller) })
            case .find(let request):
                return .found(try withReadItems(attempt) { try $0.find(request, from: caller) })
            case .update(let request): try withItems(attempt) { try $0.update(request, from: caller) }
            case .delete(let query):
                return .deleted(try withItems(attempt) { try $0.delete(query, from: caller) })
            case .makeKey(let request):
                return .added(try withItems(attempt) { try $0.makeKey(request, from: caller) })
            case .useKey(let use):
                return .keyResult(try withReadItems(attempt) { try $0.use(use, from: caller) })
            case .transaction(let request):
                return .committed(try withItems(attempt) { try $0.commit(request, from: caller) })
            case .check: return .checked(try withReadItems(attempt) { try $0.check() })
            case .compact: try store.compact()
            case .removeExpired: return .expired(try removeExpired())
            case .expiredItems(deleting: let items):
                return try expiredItems(deleting: items, within: attempt.mostBytes)
            case .status: return .status(try status(for: caller))
            case .lockStatus: return .lockStatus(try keys.status())
            case .unlock(let passcode): return .lockStatus(try unlock(passcode))
            case .lock(let request): try lock(request)
            case .passcode(let request): return try change(request)
            case .rekeyStep: return .rekeyed(told(try rekeyStep()))
            // The system's daemon watches itself, and no program's word counts.
            case .renewLease: if configuration.host != .system { try keys.renewLease() }
            case .exportItems(let request):
                return .exported(try withReadItems(attempt) { try $0.export(request) })
            case .importItems(let request):
                return .imported(try withItems(attempt) { try $0.merge(request) })
            case .removeMoved(let items):
                let isDone = try withItems(attempt) { try $0.remove(moved: items) }
                // A store that all items have left may never be opened again, and its log would have them.
                if configuration.host.isMoving { try store.emptyLog(waits: true) }
                return .committed(isDone)
            case .giveUpStore: try giveUp()
            case .fileKey(let request):
                return .fileKey(
                    try withFileKeys(attempt) { operations in
                        if request.makesFile { try noteFiles() }
                        return try operations.answer(request)
                    })
            case .backUpFileKeys(let request):
                return .fileKeyBackup(try withFileKeys(attempt) { try $0.backUp(request) })
            case .authenticationStatus: return .authenticationStatus(try authenticationStatus())
            case .endTicket(let ticket): biometry.end(ticket, caller)
            case .resolve:
                throw KeychainError(.parameter, message: "a search for a name comes without a proof")
            case .authenticated:
                throw KeychainError(.parameter, message: "a request comes with one proof")
            }
            return .done
        } catch {
            throw KeychainError(engineFailure: error)
        }
    }

    /// Runs `body` with the present keys.
    private func withItems<R>(_ attempt: Attempt, _ body: (ItemOperations) throws -> R) throws -> R {
        var items = try items(attempt.isLast, attempt.shown)
        items.mostBytes = attempt.mostBytes
        return try refusingFinally(items.keys) { try body(items) }
    }

    /// Runs a `body` that changes nothing, and asks the lock once more before the result is handed out.
    private func withReadItems<R>(_ attempt: Attempt, _ body: (ItemOperations) throws -> R) throws -> R {
        try withItems(attempt) { items in
            let result = try body(items)
            try items.keys.requireWithinGrace()
            return result
        }
    }

    private func withFileKeys<R>(_ attempt: Attempt, _ body: (FileKeyOperations) throws -> R) throws -> R {
        let session = try keys.begin(isLastAttempt: attempt.isLast)
        return try refusingFinally(session) {
            let result = try body(
                FileKeyOperations(storeID: keys.storeID, keys: session, randomness: configuration.randomness))
            try session.requireWithinGrace()
            return result
        }
    }

    /// Says in the store that there are files under its keys, so that the store never counts as a new one.
    private func noteFiles() throws {
        if filesAreNoted.load(ordering: .relaxed) { return }
        if try !store.read({ try $0.hasFiles() }) { try store.write { try $0.noteFiles() } }
        filesAreNoted.store(true, ordering: .relaxed)
    }

    /// - Throws: `KeychainError.staleKeys` instead of a refusal if the lock or the keybag changed meanwhile, since the
    ///   request may be allowed now.
    private func refusingFinally<R>(_ session: KeySession, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as KeychainError where error.code == .interactionNotAllowed && !session.isLastAttempt {
            throw keys.hasChanged(since: session) ? .staleKeys : error
        }
    }

    /// The operations on items, with the present keys.
    func items(
        _ isLastAttempt: Bool = false, _ shown: Authentication? = nil
    ) throws(KeychainError) -> ItemOperations {
        ItemOperations(
            store: store, keys: try keys.begin(isLastAttempt: isLastAttempt), configuration: configuration,
            logger: logger, authentication: shown ?? unauthenticated, changes: changes)
    }

    /// Returns the epoch of the lock as soon as it differs from `epoch`, or when the time is over.
    package func waitForLockChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 {
        try keys.state.waitForChange(since: epoch, timeout: timeout)
    }

    /// Moves this process's writes out of the log, so that replaced and deleted ciphertext leaves it. If another
    /// process is reading, the next process that writes does it.
    package func prepareForExit() {
        // A forked child inherits the handlers of exit, and must not touch its parent's connection.
        if Self.isForkedChild { return }
        emptyLog()
    }

    // MARK: Possession

    private func requirePossession() throws(KeychainError) {
        guard configuration.host.isDaemon, possession.withLock({ $0 == nil }) else { return }
        throw .wasGivenUp(configuration.storeDirectory)
    }

    /// Gives the store back to the programs that use it. Later requests are refused; requests under way end as usual.
    ///
    /// - Throws: `.unimplemented` if the host is no daemon.
    private func giveUp() throws {
        guard configuration.host.isDaemon else {
            throw KeychainError(.unimplemented, message: "only a daemon has a store to give up")
        }
        // The system's store stays where it is, and its programs choose their host anew. A move ends by itself.
        if configuration.host == .user { try giveMarkUp() } else { possession.withLock { $0 = nil } }
        keys.withdraw()
        emptyLog()
    }

    private func giveMarkUp() throws {
        try keys.withStoreLock {
            let mark = HostMark(configuration)
            let result = Result { try mark.write(.embedded) }
            // The possession ends even if forcing the mark to the disk failed: programs may have seen that the store is
            // theirs.
            if try mark.read() == .embedded { possession.withLock { $0 = nil } }
            try result.get()
        }
    }

    func emptyLog() {
        do {
            try store.emptyLog()
        } catch {
            logger.debug("the log was not emptied", metadata: ["reason": "\(KeychainError(engineFailure: error).code)"])
        }
    }

    /// Takes this store's keys from the kernel's keyring, as a restart of the system would. Tests call this, to leave
    /// nothing behind.
    package func withdrawKeys() { keys.withdraw() }
}

/// One attempt to answer a request.
private struct Attempt {
    let shown: Authentication
    /// nil: as many as memory holds.
    let mostBytes: Int?
    let isLast: Bool
}
