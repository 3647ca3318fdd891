internal import CKeychainLinux
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire
internal import Logging
internal import Synchronization

/// The services that all connections of a daemon share.
final class Services: Sendable {
    let limits: Limits
    let admission: any Admission
    let connections: ConnectionTable
    private let welcome: DaemonWelcome
    let budget: MemoryBudget
    let gate: WorkGate
    let signs: SignsOfLife
    let consent: any OwnerConsent
    let people: PeopleAsked
    /// How much the clients of each user have been written of in the log.
    private let lines = Mutex<[uid_t: RateLimit]>([:])
    let logger: Logger
    let ending = Ending()
    private let requestEnd: @Sendable (DaemonGoodbye) -> Void

    init(
        _ admission: any Admission, _ consent: any OwnerConsent, _ limits: Limits, release: String, _ logger: Logger,
        end: @escaping @Sendable (DaemonGoodbye) -> Void
    ) throws(KeychainError) {
        requestEnd = end
        self.admission = admission
        self.consent = consent
        people = PeopleAsked(isShared: admission.isShared)
        connections = ConnectionTable(limits, isShared: admission.isShared)
        self.limits = limits
        self.logger = logger
        welcome = DaemonWelcome(instance: UUID(), processID: getpid(), release: release, givesSigns: true)
        budget = MemoryBudget(limits, isShared: admission.isShared)
        gate = WorkGate(limits, isShared: admission.isShared)
        signs = try SignsOfLife(every: limits.signInterval)
    }

    /// Begins no request from now on, and asks for the daemon's end.
    func askForEnd(_ goodbye: DaemonGoodbye) {
        ending.set(goodbye)
        requestEnd(goodbye)
    }

    /// A store is the programs' own again. The other stores of a daemon stay.
    func giveUp(_ store: ServedStore) {
        guard admission.isShared else { return askForEnd(.storeGivenUp) }
        store.ending.set(.storeGivenUp)
        connections.shutDown(Int32(SHUT_RD), of: store.user)
    }

    func welcome(nonce: Data, _ caller: CallerDescription) -> DaemonWelcome {
        var welcome = welcome
        (welcome.nonce, welcome.caller) = (nonce, caller)
        return welcome
    }

    /// Lines about one user's clients in a minute, where users share the log.
    private static let linesPerMinute = 10.0

    /// Logs something about a client, and which process it is.
    func log(_ message: Logger.Message, _ socket: OpenDescriptor) {
        var peer = ckeychain_process()
        guard ckeychain_peer(socket.number, &peer) == 0 else { return logger.warning(message) }
        guard !admission.isShared || mayLog(of: peer.uid) else { return }
        logger.warning(message, metadata: ["pid": "\(peer.pid)", "uid": "\(peer.uid)"])
    }

    private func mayLog(of user: uid_t) -> Bool {
        lines.withLock { lines in
            var rate =
                lines[user] ?? RateLimit(perSecond: Self.linesPerMinute / 60, burst: Self.linesPerMinute, now: .now)
            defer { lines[user] = rate }
            // A line that is left out costs no turn.
            return rate.take(at: .now, ifAtOnce: true) == nil
        }
    }
}
