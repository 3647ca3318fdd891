internal import Glibc
package import KeychainModel
internal import KeychainSystem
internal import KeychainWire
internal import Synchronization

/// The way to a daemon: blocking calls over a few connections, each of which has one request under way.
///
/// After the daemon was started anew the next call connects anew. A call is never executed twice: it is sent again only
/// if the daemon cannot have begun it, or if doing it twice makes no difference.
package final class SocketCarrier: RequestHandler {
    /// So many threads of a process are served at once, the others wait. A daemon takes 64 connections from a process.
    private static let mostConnections = 16
    /// Idle connections are kept for the next calls.
    private static let mostIdle = 4
    private struct State {
        private var process = getpid()
        var idle: [DaemonSocket] = []
        var openCount = 0
        var hasAnswered = false
        /// How often a call ended because the daemon was silent.
        var silenceCount = 0
        var waitingCount = 0
        /// Subscriptions on which no thread waits at the moment.
        var subscriptions: [LockSubscription] = []

        /// A forked child begins anew: its copies of its parent's connections are the parent's.
        mutating func forgetParent() {
            if process != getpid() { self = State() }
        }
    }

    private let address: DaemonAddress
    private let patience: Patience
    /// The choice that has led to this daemon; nil: the daemon is told by name.
    private let choice: (@Sendable () throws(KeychainError) -> ChosenHost)?
    private let state = Mutex(State())
    private let isFree = Condition()

    init(
        _ address: DaemonAddress, _ patience: Patience = .ofProcess,
        choice: (@Sendable () throws(KeychainError) -> ChosenHost)? = nil
    ) {
        (self.address, self.patience, self.choice) = (address, patience, choice)
    }

    /// The way to a daemon that this user or root runs at a path.
    package convenience init(socketPath: String) {
        self.init(DaemonAddress(path: socketPath, owners: [geteuid(), 0]))
    }

    package func prepareForExit() {}  // the daemon has the store

    // MARK: Requests

    package func handle(_ request: Request, from caller: Caller) throws(KeychainError) -> Reply {
        let reply: Reply
        do throws(KeychainError) {
            reply = try answer(to: request, from: caller)
        } catch {
            guard case .lock = request, case .noPlace? = error.signal else { throw error }
            reply = try lockBySignal(request, caller)
        }
        // The daemon is not silent any more.
        if case .lock = request { Self.silentUntil.withLock { $0[address.path] = nil } }
        return reply
    }

    /// Returns when the daemon says that it is locked: in a refusal, or because there is a place by then.
    private func lockBySignal(_ request: Request, _ caller: Caller) throws(KeychainError) -> Reply {
        try address.signalLock(patience)
        for _ in 0..<Self.looksForLock {
            do throws(KeychainError) {
                return try answer(to: request, from: caller)
            } catch {
                guard case .noPlace(let isLocked, let hasNoPasscode)? = error.signal else { throw error }
                if isLocked { return .done }
                if hasNoPasscode { throw .neverLocked }
            }
            usleep(20_000)
        }
        throw KeychainError(
            .notAvailable,
            message: "the keychaind at \(address.path) has no place for a connection. It was told to lock by a signal, "
                + "and does not say that it has")
    }

    /// Each look takes at least 20 ms.
    private static let looksForLock = 150

    private func answer(to request: Request, from caller: Caller) throws(KeychainError) -> Reply {
        try requireNoRecentSilence(request)
        var failures = Failures(patience)
        while true {
            switch attempt(request, caller) {
            case .success(let answer): return try answer.get()
            case .failure(let failure): try failures.add(failure, to: request, mayWait: hasAnswered)
            }
        }
    }

    /// Until when each daemon counts as silent without being asked: a command for many items waits once, and not for each.
    private static let silentUntil = Mutex<[String: ContinuousClock.Instant]>([:])

    /// A lock is always tried, also with a daemon that was silent.
    private func requireNoRecentSilence(_ request: Request) throws(KeychainError) {
        if case .lock = request { return }
        guard let end = Self.silentUntil.withLock({ $0[address.path] }), ContinuousClock.now < end else { return }
        throw address.isSilent(for: patience.time(of: patience.parts))
    }

    private var hasAnswered: Bool { state.withLock { $0.hasAnswered } }

    private func attempt(_ request: Request, _ caller: Caller) -> Result<Result<Reply, KeychainError>, CallFailure> {
        switch Result(catching: { () throws(KeychainError) in try take(for: caller) }) {
        case .failure(let error): return .failure(.neverBegun(error))
        case .success(let socket):
            let answer = Result { () throws(CallFailure) in try socket.answer(to: request, address) }
            if case .failure(.unknownOutcome(let error)) = answer { note(error) }
            if case .failure(.neverBegun(let error)) = answer { note(error) }
            give(socket)
            return answer
        }
    }

    // MARK: Connections

    /// A thread that waits for a connection ends too, since the daemon is silent for all of them.
    private func note(_ error: KeychainError) {
        guard error.signal == .silent else { return }
        state.withLock { $0.silenceCount += 1 }
        Self.silentUntil.withLock { $0[address.path] = .now + patience.remembered }
    }

    /// The number of calls that wait for a connection, for tests.
    var waitingCount: Int { state.withLock { $0.waitingCount } }

    private func take(for caller: Caller) throws(KeychainError) -> DaemonSocket {
        isFree.lock()
        var known: DaemonSocket?
        var silenceCount: Int?
        while true {
            let mayGoOn = state.withLock { state -> Bool? in
                state.forgetParent()
                if let silenceCount, silenceCount != state.silenceCount { return nil }
                silenceCount = state.silenceCount
                if let index = state.idle.lastIndex(where: { $0.caller == caller }) {
                    known = state.idle.remove(at: index)
                    return true
                }
                if state.openCount >= Self.mostConnections, !state.idle.isEmpty {
                    state.idle.removeFirst()
                    state.openCount -= 1
                }
                guard state.openCount < Self.mostConnections else { return false }
                state.openCount += 1
                return true
            }
            guard let mayGoOn else {
                isFree.unlock()
                throw address.isSilent(for: patience.time(of: patience.parts))
            }
            if mayGoOn { break }
            state.withLock { $0.waitingCount += 1 }
            isFree.wait()
            state.withLock { $0.waitingCount -= 1 }
        }
        isFree.unlock()
        if let known { return known }
        do throws(KeychainError) {
            let socket = try DaemonSocket(address, as: caller, patience)
            // The choice may be older than the connection. A store that changes hands from here on ends the connection.
            if let choice, try choice() != .daemon(address) { throw .hasChangedHands }
            state.withLock { $0.hasAnswered = true }
            return socket
        } catch {
            note(error)
            release(1)
            throw error
        }
    }

    private func give(_ socket: DaemonSocket) {
        let closed = state.withLock { state -> Int in
            if socket.isOver {
                // The others led to the same daemon.
                let count = state.idle.count + 1
                state.idle.removeAll()
                return count
            }
            guard state.idle.count < Self.mostIdle else { return 1 }
            state.idle.append(socket)
            return 0
        }
        release(closed)
    }

    /// Says that connections were closed, or one is idle again.
    private func release(_ closed: Int) {
        isFree.lock()
        state.withLock { $0.openCount -= closed }
        isFree.broadcast()
        isFree.unlock()
    }

    func welcome(for caller: Caller) throws(KeychainError) -> DaemonWelcome {
        let socket = try take(for: caller)
        defer { give(socket) }
        return socket.welcome
    }

    // MARK: Biometry

    /// Over a connection of its own, which is closed to end the waiting.
    package func verifyBiometry(
        for caller: Caller, _ cancellation: Cancellation, hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryTicket {
        let socket: DaemonSocket
        do throws(KeychainError) {
            socket = try DaemonSocket(address, as: caller, patience)
        } catch {
            throw .failed(error.message)
        }
        return try cancellation.withHandler({ socket.shutDown() }) { () throws(BiometryFailure) in
            do throws(BiometryFailure) {
                return try socket.verifyBiometry(address, hint: hint)
            } catch {
                throw cancellation.isCancelled ? .cancelled : error
            }
        }
    }

    // MARK: Changes

    /// Over a connection that is told of every change; it is kept between two waits, so that none is missed.
    package func waitForLockChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 {
        let end = ContinuousClock.now + timeout
        var failures = Failures(patience)
        while true {
            switch attemptToWait(since: epoch, until: end) {
            case .success(let present): return present
            case .failure(let error): try failures.add(.neverBegun(error), to: .lockStatus, mayWait: hasAnswered)
            }
        }
    }

    package func listenForLocks() throws(KeychainError) -> any LockListener {
        try SubscribedLockListener(address, patience)
    }

    package func listenForChanges(as caller: Caller) throws(KeychainError) -> any ChangeListener {
        try SubscribedChangeListener(address, as: caller, patience)
    }

    private func attemptToWait(
        since epoch: UInt64, until end: ContinuousClock.Instant
    ) -> Result<UInt64, KeychainError> {
        let former = state.withLock { state in
            state.forgetParent()
            return state.subscriptions.popLast()
        }
        return Result { () throws(KeychainError) in
            do throws(KeychainError) {
                let subscription = try subscription(former)
                let present = try subscription.epoch(otherThan: epoch, until: end)
                state.withLock {
                    $0.hasAnswered = true
                    if $0.subscriptions.count < Self.mostIdle { $0.subscriptions.append(subscription) }
                }
                return present
            } catch {
                // The others led to the same daemon.
                state.withLock { $0.subscriptions.removeAll() }
                throw error
            }
        }
    }

    /// - Parameter former: A subscription on which no thread waits; nil: there is none.
    private func subscription(_ former: LockSubscription?) throws(KeychainError) -> LockSubscription {
        if let former { return former }
        return try LockSubscription(address, patience)
    }
}

extension KeychainError {
    fileprivate static var hasChangedHands: KeychainError {
        KeychainError(.notAvailable, message: "the keychain has gone to another host", signal: .otherHost)
    }
}

/// The failed attempts to have one request done, and whether there may be another.
private struct Failures {
    /// How long a daemon that had answered before may take to come back.
    private static let restart = Duration.seconds(3)

    private let pause: @Sendable () -> Void
    private var end: ContinuousClock.Instant?
    private var unknownCount = 0

    init(_ patience: Patience) { pause = patience.pause }

    /// Returns if the request may be sent once more.
    ///
    /// - Parameter mayWait: Whether the daemon had answered before, so that it is probably being started anew.
    mutating func add(_ failure: CallFailure, to request: Request, mayWait: Bool) throws(KeychainError) {
        switch failure {
        case .refused(let error): throw error
        case .unknownOutcome(let error):
            guard request.mayBeRepeated else { throw .unknownOutcome(error) }
            unknownCount += 1
            // It may be this very request that ends the daemon.
            guard unknownCount < 3, error.signal?.isOfWaiting != true else { throw error }
        case .neverBegun(let error):
            guard mayWait, error.signal != .otherHost, error.signal?.isOfWaiting != true else { throw error }
            let isFirst = end == nil
            let last = end ?? .now + Self.restart
            guard ContinuousClock.now < last else { throw error }
            end = last
            // The connection may just have been an old one.
            if !isFirst { pause() }
        }
    }
}

extension Request {
    /// Whether it makes no difference how often it is done: it only reads, or the second time finds it done.
    var mayBeRepeated: Bool {
        switch self {
        case .authenticated(_, let request): request.mayBeRepeated
        case .find, .resolve, .status, .check, .compact, .removeExpired, .lockStatus, .exportItems, .lock,
            .renewLease, .fileKey, .backUpFileKeys, .authenticationStatus, .endTicket, .useKey:
            true
        case .importItems(let request): request.isDryRun
        case .expiredItems(let items): items.isEmpty
        case .transaction(let request): request.steps.isEmpty
        case .add, .update, .delete, .makeKey, .unlock, .passcode, .rekeyStep, .removeMoved, .giveUpStore: false
        }
    }
}

extension KeychainError {
    fileprivate static func unknownOutcome(_ error: KeychainError) -> KeychainError {
        KeychainError(
            .notAvailable,
            message: "\(error.message). Whether the request was carried out is not known: look before you repeat it",
            cause: error)
    }
}
