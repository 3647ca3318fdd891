internal import Foundation
internal import Glibc
internal import KeychainBus
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire

/// The connections there are, counted by process.
///
/// When all places are taken, the process that has most of them gives one back to a process that has fewer: its newest
/// connection, which ends after what is under way on it was answered. Where none can give one back, since too many are
/// about to end already, a process without a connection has one of a few further places. So a few processes that take
/// every place keep nobody out, from a lock least of all; as many processes as there are places, with one each, do.
final class ConnectionTable: @unchecked Sendable {  // what varies is behind the condition
    /// How many that have given back their place may be about to end. One that reads no answers takes a minute.
    private static let mostEnding = 64

    /// Further places, one for each process that has no other.
    private static let furtherPlaces = 32

    private struct Entry {
        let socket: OpenDescriptor
        let pid: Int32
        /// Counts the connections that there ever were.
        let number: UInt64
        /// It has given its place back.
        var isEnding = false
    }

    private let limits: Limits
    private let condition = NSCondition()
    private var entries: [ObjectIdentifier: Entry] = [:]
    private var counts: [Int32: Int] = [:]
    private var last: UInt64 = 0

    init(_ limits: Limits) { self.limits = limits }

    var count: Int { condition.withLock { entries.count } }

    /// Takes note of a connection.
    ///
    /// - Returns: why it cannot be served; nil: it can.
    func add(_ socket: OpenDescriptor, of pid: Int32) -> DaemonGoodbye? {
        condition.withLock {
            guard counts[pid, default: 0] < limits.connectionsPerProcess else {
                return DaemonGoodbye(
                    .tooManyConnections,
                    "process \(pid) has \(limits.connectionsPerProcess) connections to keychaind already")
            }
            let taken = counts.values.reduce(0, +)
            let isFirst = counts[pid] == nil && taken < limits.connections + Self.furtherPlaces
            guard taken < limits.connections || makeRoom(for: pid) || isFirst else {
                return DaemonGoodbye(.tooManyConnections, "keychaind has \(limits.connections) connections already")
            }
            last += 1
            entries[ObjectIdentifier(socket)] = Entry(socket: socket, pid: pid, number: last)
            counts[pid, default: 0] += 1
            return nil
        }
    }

    /// - Returns: false if no other process has more connections than this one would have.
    private func makeRoom(for pid: Int32) -> Bool {
        guard let most = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }),
            most.value > counts[pid, default: 0] + 1, entries.values.count(where: \.isEnding) < Self.mostEnding,
            let newest = entries.filter({ $0.value.pid == most.key && !$0.value.isEnding })
                .max(by: { $0.value.number < $1.value.number })
        else { return false }
        entries[newest.key]!.isEnding = true  // it was found there
        release(most.key)
        // What is under way is answered; then there is nothing more to receive.
        shutdown(newest.value.socket.number, Int32(SHUT_RD))
        return true
    }

    private func release(_ pid: Int32) {
        let count = counts[pid, default: 1] - 1
        counts[pid] = count == 0 ? nil : count
    }

    /// Why a connection ends that has nothing more to receive; nil: its client has gone.
    func reasonForEnd(of socket: OpenDescriptor) -> DaemonGoodbye? {
        condition.withLock {
            guard entries[ObjectIdentifier(socket)]?.isEnding == true else { return nil }
            return DaemonGoodbye(
                .tooManyConnections,
                "keychaind has \(limits.connections) connections, and this one's process most of them")
        }
    }

    func remove(_ socket: OpenDescriptor, of pid: Int32) {
        condition.withLock {
            let entry = entries.removeValue(forKey: ObjectIdentifier(socket))
            if entry?.isEnding == false { release(pid) }
            condition.broadcast()
        }
    }

    /// Ends what goes over all connections in a direction (shutdown(2)), and thereby every wait for it.
    func shutDown(_ direction: Int32) {
        for entry in condition.withLock({ Array(entries.values) }) { shutdown(entry.socket.number, direction) }
    }

    /// - Returns: whether there is none any more.
    func waitUntilEmpty(for time: Duration) -> Bool {
        let end = Date(timeIntervalSinceNow: time / .seconds(1))
        return condition.withLock {
            while !entries.isEmpty, condition.wait(until: end) {}
            return entries.isEmpty
        }
    }
}
