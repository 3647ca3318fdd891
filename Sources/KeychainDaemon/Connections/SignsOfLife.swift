internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// The thread that tells clients whose requests take long that the daemon runs.
///
/// It waits for nothing that a request may wait for, so a sign says that this process is not stopped, and no more: a client
/// takes so many of them and then gives up. While no request is under way the thread sleeps.
final class SignsOfLife: Sendable {
    private let interval: Duration
    private let senders = Mutex<[ObjectIdentifier: FrameSender]>([:])
    private let event: EventDescriptor
    private let isAsleep = Atomic(false)
    private let isOver = Atomic(false)

    init(every interval: Duration) throws(KeychainError) {
        self.interval = interval
        event = try EventDescriptor.make()
    }

    func start() throws(KeychainError) {
        try WorkerThread.start("signs") { [self] in run() }
    }

    func stop() {
        isOver.store(true, ordering: .sequentiallyConsistent)
        event.set()
    }

    // MARK: Connections

    /// Adds a client that understands signs of life.
    func add(_ sender: FrameSender) { senders.withLock { $0[ObjectIdentifier(sender)] = sender } }

    func remove(_ sender: FrameSender) { senders.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(sender)) } }

    /// The caller has begun a request before.
    func wake() {
        if isAsleep.load(ordering: .sequentiallyConsistent) { event.set() }
    }

    // MARK: The thread

    private func run() {
        while true {
            // A request that begins after the look finds the thread asleep, and wakes it.
            isAsleep.store(true, ordering: .sequentiallyConsistent)
            if !giveSigns() { wait(-1) }
            isAsleep.store(false, ordering: .sequentiallyConsistent)
            event.clear()
            if isOver.load(ordering: .sequentiallyConsistent) { return }
            wait(Int32(clamping: Int64(interval / .milliseconds(1))))
        }
    }

    /// - Returns: whether a request is under way.
    private func giveSigns() -> Bool {
        senders.withLock { Array($0.values) }.reduce(false) { $1.giveSign() || $0 }
    }

    private func wait(_ milliseconds: Int32) {
        var waiting = pollfd(fd: event.number, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, milliseconds)  // threads of the daemon take no signals
    }
}
