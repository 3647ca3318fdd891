internal import CKeychainLinux
internal import FoundationEssentials
internal import Glibc
internal import KeychainBus
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire
internal import Logging
internal import Synchronization

/// The services that all connections of a daemon share.
final class Services: Sendable {
    let limits: Limits
    let store: ServedStore
    let welcome: DaemonWelcome
    let budget: MemoryBudget
    let gate: WorkGate
    let signs: SignsOfLife
    let logger: Logger
    private let requestEnd: @Sendable (DaemonGoodbye) -> Void
    /// Every request looks at this.
    private let isEnding = Atomic(false)
    private let reason = Mutex<DaemonGoodbye?>(nil)

    init(
        _ store: ServedStore, _ limits: Limits, release: String, _ logger: Logger,
        end: @escaping @Sendable (DaemonGoodbye) -> Void
    ) throws(KeychainError) {
        requestEnd = end
        self.store = store
        self.limits = limits
        self.logger = logger
        welcome = DaemonWelcome(instance: UUID(), processID: getpid(), release: release, givesSigns: true)
        budget = MemoryBudget(limits)
        gate = WorkGate(limits)
        signs = try SignsOfLife(every: limits.signInterval)
    }

    /// Why the daemon ends; nil: it does not.
    var ending: DaemonGoodbye? { isEnding.load(ordering: .acquiring) ? reason.withLock { $0 } : nil }

    /// Ends all connections, and asks for the daemon's end.
    func askForEnd(_ goodbye: DaemonGoodbye) {
        end(goodbye)
        requestEnd(goodbye)
    }

    /// No request is begun from now on.
    func end(_ goodbye: DaemonGoodbye) {
        reason.withLock { $0 = $0 ?? goodbye }
        isEnding.store(true, ordering: .releasing)
    }

    /// Logs something about a client, and which process it is.
    func log(_ message: Logger.Message, _ socket: OpenDescriptor) {
        var peer = ckeychain_process()
        guard ckeychain_peer(socket.number, &peer) == 0 else { return logger.warning(message) }
        logger.warning(message, metadata: ["pid": "\(peer.pid)", "uid": "\(peer.uid)"])
    }
}
