import CTransport
import Glibc
import Synchronization

/// One thread waits for all connections with `epoll`, a few others answer those that are ready.
final class PollServer: Sendable {
    private let poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    private let connections = Mutex<[Int32: Connection]>([:])
    private let queue = ReadyQueue()

    static func run(_ listener: Int32, rounds: UInt64, workers: Int) -> Never {
        let server = PollServer()
        for _ in 0..<workers { startThread { server.work() } }
        startThread { server.watch() }
        acceptAll(listener, rounds: rounds) { server.add($0) }
    }

    private func add(_ connection: Connection) {
        connections.withLock { $0[connection.socket] = connection }
        arm(connection.socket, EPOLL_CTL_ADD)
    }

    /// Each readiness is told once, so that no two workers have the same connection.
    private func arm(_ socket: Int32, _ operation: Int32) {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | EPOLLONESHOT.rawValue
        event.data.fd = socket
        guard epoll_ctl(poll, operation, socket, &event) == 0 else { fatalError("epoll_ctl") }
    }

    private func watch() -> Never {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while true {
            let count = epoll_wait(poll, &events, Int32(events.count), -1)
            for place in 0..<max(0, Int(count)) { queue.append(events[place].data.fd) }
        }
    }

    private func work() -> Never {
        while true {
            let socket = queue.next()
            guard let connection = connections.withLock({ $0[socket] }) else { continue }
            if connection.answerNext() {
                arm(socket, EPOLL_CTL_MOD)
            } else {
                connections.withLock { $0[socket] = nil }
            }
        }
    }
}

/// Connections with something to read, for whoever comes first.
private final class ReadyQueue: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var ready: [Int32] = []
    private var taken = 0

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    func append(_ socket: Int32) {
        pthread_mutex_lock(mutex)
        ready.append(socket)
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(condition)
    }

    func next() -> Int32 {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while taken == ready.count { pthread_cond_wait(condition, mutex) }
        defer {
            taken += 1
            if taken == ready.count {
                ready.removeAll(keepingCapacity: true)
                taken = 0
            }
        }
        return ready[taken]
    }
}
