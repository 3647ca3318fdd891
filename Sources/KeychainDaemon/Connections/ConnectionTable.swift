internal import Foundation
internal import Glibc
internal import KeychainBus
internal import KeychainModel

/// The connections there are, counted by process.
final class ConnectionTable: @unchecked Sendable {  // what varies is behind the condition
    private let limits: Limits
    private let condition = NSCondition()
    private var sockets: [ObjectIdentifier: OpenDescriptor] = [:]
    private var counts: [Int32: Int] = [:]

    init(_ limits: Limits) { self.limits = limits }

    var count: Int { condition.withLock { sockets.count } }

    /// Takes note of a connection.
    ///
    /// - Returns: why it cannot be served; nil: it can.
    func add(_ socket: OpenDescriptor, of pid: Int32) -> DaemonGoodbye? {
        condition.withLock {
            guard sockets.count < limits.connections else {
                return DaemonGoodbye(.tooManyConnections, "keychaind has \(limits.connections) connections already")
            }
            guard counts[pid, default: 0] < limits.connectionsPerProcess else {
                return DaemonGoodbye(
                    .tooManyConnections,
                    "process \(pid) has \(limits.connectionsPerProcess) connections to keychaind already")
            }
            sockets[ObjectIdentifier(socket)] = socket
            counts[pid, default: 0] += 1
            return nil
        }
    }

    func remove(_ socket: OpenDescriptor, of pid: Int32) {
        condition.withLock {
            sockets[ObjectIdentifier(socket)] = nil
            let count = counts[pid, default: 1] - 1
            counts[pid] = count == 0 ? nil : count
            condition.broadcast()
        }
    }

    /// Ends what goes over all connections in a direction (shutdown(2)), and thereby every wait for it.
    func shutDown(_ direction: Int32) {
        for socket in condition.withLock({ Array(sockets.values) }) { shutdown(socket.number, direction) }
    }

    /// - Returns: whether there is none any more.
    func waitUntilEmpty(for time: Duration) -> Bool {
        let end = Date(timeIntervalSinceNow: time / .seconds(1))
        return condition.withLock {
            while !sockets.isEmpty, condition.wait(until: end) {}
            return sockets.isEmpty
        }
    }
}
