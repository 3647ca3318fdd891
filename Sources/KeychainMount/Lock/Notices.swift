internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// Notices to the kernel, sent one after the other by a thread of their own: the kernel may need answers before it is done
/// with one.
final class Notices: @unchecked Sendable {  // ``change`` guards the variables
    private let device: Device
    private let change = Condition()
    private var waiting: Set<UInt64> = []
    private var order: [UInt64] = []

    init(_ device: Device) { self.device = device }

    func start() throws(KeychainError) {
        try WorkerThread.start("keychain notice") { [self] in
            while true { device.forget(next(), withPages: true) }
        }
    }

    private func next() -> UInt64 {
        change.withLock {
            while order.isEmpty { change.wait() }
            let next = order.removeFirst()
            waiting.remove(next)
            return next
        }
    }

    /// Has the kernel give up the pages and the attributes of a file, soon.
    func pages(of node: Node) {
        change.withLock {
            guard waiting.insert(node.id).inserted else { return }
            order.append(node.id)
            change.signal()
        }
    }
}
