internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Notices to the kernel, sent by threads that answer nothing: the kernel may need answers before it is done with one.
final class Notices: @unchecked Sendable {  // ``change`` guards ``waiting``
    private let device: Device
    private let change = Condition()
    private var waiting: [UInt64] = []

    init(_ device: Device) { self.device = device }

    func start() throws(KeychainError) {
        try WorkerThread.start("keychain notice") { [self] in while true { device.forget(next(), withPages: true) } }
    }

    private func next() -> UInt64 {
        change.withLock {
            while waiting.isEmpty { change.wait() }
            return waiting.removeFirst()
        }
    }

    /// Has the kernel give up the attributes of a file. It asks this program nothing meanwhile, so a thread that answers may
    /// call it.
    func attributes(of node: Node) { device.forget(node.id, withPages: false) }

    /// Has the kernel give up the pages and the attributes of a file, soon.
    func pages(of node: Node) {
        change.withLock {
            guard !waiting.contains(node.id) else { return }
            waiting.append(node.id)
            change.signal()
        }
    }
}

/// Work for each of many nodes, on threads of its own, for a limited time.
final class NodeWork: Sendable {
    /// More than there are threads that answer. A call that waits for another program holds up one node, and the rest go on.
    private static let mostThreads = 72

    private struct State {
        var rest: [Node]
        var undone: Int
    }
    private let state: Mutex<State>
    private let end = Condition()

    private init(_ nodes: [Node]) { state = Mutex(State(rest: nodes, undone: nodes.count)) }

    /// - Parameter limit: When it is over, the call returns, and the work that is left goes on.
    static func run(_ nodes: [Node], within limit: Duration, _ body: @escaping @Sendable (Node) -> Void) {
        let work = NodeWork(nodes)
        let count = min(nodes.count, mostThreads)
        let started = (0..<count).count { _ in
            let start = { () throws(KeychainError) in
                try WorkerThread.start("keychain lock") { work.run(body) }
            }
            return (try? start()) != nil
        }
        // The user may have no more threads.
        if started == 0 { return work.run(body) }
        let time = ContinuousClock.now + limit
        work.end.withLock {
            while work.state.withLock({ $0.undone > 0 }), work.end.wait(until: time) {}
        }
    }

    private func run(_ body: (Node) -> Void) {
        while let node = state.withLock({ $0.rest.popLast() }) {
            body(node)
            end.withLock {
                state.withLock { $0.undone -= 1 }
                end.broadcast()
            }
        }
    }
}
