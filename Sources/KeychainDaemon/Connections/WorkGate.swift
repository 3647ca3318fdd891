internal import Dispatch
internal import Glibc
internal import KeychainModel
internal import Synchronization

/// How many requests of a kind are worked on at once; the others wait in their threads.
///
/// Each kind has places of its own, so that none keeps another waiting, least of all a lock. Short work has so for each
/// user, and for each identity of a user that the daemon can tell.
final class WorkGate: Sendable {
    enum Work: Sendable {
        case read, write, large, passcode
        /// Work of this kind never waits.
        case immediate
    }

    /// The places for short work in one store.
    final class Lanes: Sendable {
        fileprivate let reads: Places
        fileprivate let writes: DispatchSemaphore

        fileprivate init(_ limits: Limits) {
            reads = Places(limits.readsAtOnce)
            writes = DispatchSemaphore(value: limits.writesAtOnce)
        }
    }

    private struct LaneOwner: Hashable {
        let user: uid_t
        /// The groups by the kernel's evidence; none where programs are taken at their word.
        let groups: [String]
    }

    private let limits: Limits
    private let isShared: Bool
    private let lanes = Mutex<[LaneOwner: Lanes]>([:])
    private let large: FairPlaces
    private let passcodes: FairPlaces

    init(_ limits: Limits, isShared: Bool) {
        self.limits = limits
        self.isShared = isShared
        large = FairPlaces(limits.largeAtOnce, isShared: isShared)
        passcodes = FairPlaces(limits.passcodesAtOnce, isShared: isShared)
    }

    /// - Parameter groups: The groups of the client.
    func lanes(of user: uid_t, _ groups: [String]) -> Lanes {
        let owner = LaneOwner(user: user, groups: isShared ? groups : [])
        return lanes.withLock { lanes in
            if let known = lanes[owner] { return known }
            let made = Lanes(limits)
            lanes[owner] = made
            return made
        }
    }

    /// - Parameter process: That of the client: where work takes long, users and processes take turns.
    func pass<R, E: Error>(
        _ work: Work, for process: ClientProcess, _ lanes: Lanes, _ body: () throws(E) -> R
    ) throws(E) -> R {
        switch work {
        case .immediate: try body()
        case .read: try lanes.reads.hold(body)
        case .write: try lanes.writes.hold(body)
        case .large: try large.hold(for: process, body)
        case .passcode: try passcodes.hold(for: process, body)
        }
    }
}

/// Places for work that is done in less time than a thread takes to be woken: a newcomer takes a free place, also
/// before threads that wait. A `DispatchSemaphore` keeps the place for a waiting thread until it runs: with hundreds of
/// threads all places are then kept for such, and all threads wait
/// (docs/decisions/021-locks-that-are-not-handed-over.md).
private final class Places: @unchecked Sendable {  // for use by many threads
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(_ count: Int) {
        semaphore.initialize(to: sem_t())
        sem_init(semaphore, 0, UInt32(count))
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func hold<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        while sem_wait(semaphore) != 0 {}  // a signal came
        defer { sem_post(semaphore) }
        return try body()
    }
}

extension DispatchSemaphore {
    fileprivate func hold<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        wait()
        defer { signal() }
        return try body()
    }
}

extension WorkGate.Work {
    /// A frame with more than this makes its request a large one.
    private static let mostOrdinaryBytes = 1 << 20

    /// - Parameter byteCount: How large the frame with the request was.
    init(_ request: Request, byteCount: Int) {
        switch request {
        case .authenticated(let proof, let request):
            let work = Self(request, byteCount: byteCount)
            // A passcode or a password costs its sender the same, whatever the request. The place for it is not held for
            // what takes as long as a store is large.
            let isProved = proof.passcode != nil || proof.applicationPassword != nil
            self = isProved && work != .large ? .passcode : work
        // All keys are made anew, or rows are removed.
        case .passcode(.set), .passcode(.change(_, _, rekey: true)), .passcode(.remove): self = .large
        case .lock, .lockStatus, .renewLease, .giveUpStore, .endTicket: self = .immediate
        case .unlock, .passcode: self = .passcode
        case .status, .fileKey, .backUpFileKeys, .authenticationStatus, .useKey: self = .read
        case .resolve, .check, .compact, .removeExpired, .expiredItems, .rekeyStep, .exportItems, .importItems,
            .removeMoved:
            self = .large
        case .find(let request): self = request.query.limit == .one ? .read : .large
        case .transaction(let request) where request.steps.isEmpty:
            // A question about one item is a look-up.
            self = request.seen.count == 1 && request.seen[0].query.limit == .one ? .read : .large
        case .add, .update, .delete, .transaction, .makeKey: self = byteCount > Self.mostOrdinaryBytes ? .large : .write
        }
    }
}
