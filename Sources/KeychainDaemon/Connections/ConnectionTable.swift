internal import FoundationEssentials
internal import Glibc
internal import KeychainBus
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire

/// The present connections, counted by process.
///
/// When all places are taken, the process that has most of them gives one back to a process that has fewer: an idle
/// connection (``Activity``), or else its newest one, which ends after its requests under way were answered. If no
/// process has more, a process without a connection has one of a few further places, and when these are taken too, the
/// place of a connection that is idle. So idle connections keep no process out, however many processes hold them.
final class ConnectionTable: @unchecked Sendable {  // the condition guards all variables
    private struct Entry {
        let socket: OpenDescriptor
        let pid: Int32
        let activity: Activity
        /// Counts the connections that there ever were.
        let number: UInt64
        /// The connection has given its place back.
        var isEnding = false
    }

    private let limits: Limits
    private let condition = Condition()
    private var entries: [ObjectIdentifier: Entry] = [:]
    private var counts: [Int32: Int] = [:]
    private var last: UInt64 = 0

    init(_ limits: Limits) { self.limits = limits }

    var count: Int { condition.withLock { entries.count } }

    /// The activities of all connections, in the order in which they came, for tests.
    var activities: [Activity] {
        condition.withLock { entries.values.sorted { $0.number < $1.number }.map(\.activity) }
    }

    /// Adds a connection.
    ///
    /// - Returns: the reason why it cannot be served; nil: it can.
    func add(_ socket: OpenDescriptor, of pid: Int32, _ activity: Activity) -> DaemonGoodbye? {
        condition.withLock {
            guard counts[pid, default: 0] < limits.connectionsPerProcess else {
                return DaemonGoodbye(
                    .tooManyConnections,
                    "process \(pid) has \(limits.connectionsPerProcess) connections to keychaind already")
            }
            let taken = counts.values.reduce(0, +)
            let isFirst = counts[pid] == nil && taken < limits.connections + limits.furtherConnections
            guard taken < limits.connections || makeRoom(for: pid) || isFirst || endIdle(for: pid) else {
                return DaemonGoodbye(.tooManyConnections, "keychaind has \(limits.connections) connections already")
            }
            last += 1
            entries[ObjectIdentifier(socket)] = Entry(socket: socket, pid: pid, activity: activity, number: last)
            counts[pid, default: 0] += 1
            return nil
        }
    }

    /// - Returns: false if no other process has more connections than this one would have.
    private func makeRoom(for pid: Int32) -> Bool {
        guard let most = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }),
            most.value > counts[pid, default: 0] + 1
        else { return false }
        let now = Activity.now
        func order(_ entry: Entry) -> (isIdle: Int, number: UInt64) {
            (entry.activity.isIdle(at: now) ? 1 : 0, entry.number)
        }
        return end { entries in
            entries.filter { $0.value.pid == most.key }.max { order($0.value) < order($1.value) }?.key
        }
    }

    /// - Returns: false if no process with more connections than this one has an idle one.
    private func endIdle(for pid: Int32) -> Bool {
        let now = Activity.now
        let own = counts[pid, default: 0]
        func order(_ entry: Entry) -> (count: Int, age: UInt64) { (counts[entry.pid, default: 0], last - entry.number) }
        return end { entries in
            entries.filter { counts[$0.value.pid, default: 0] > own && $0.value.activity.isIdle(at: now) }
                .max { order($0.value) < order($1.value) }?.key
        }
    }

    /// Takes the place from one of the connections that have theirs.
    ///
    /// - Returns: false if `choose` names none, or too many are about to end already.
    private func end(_ choose: ([ObjectIdentifier: Entry]) -> ObjectIdentifier?) -> Bool {
        let staying = entries.filter { !$0.value.isEnding }
        guard entries.count - staying.count < limits.endingConnections, let key = choose(staying),
            let entry = staying[key]
        else { return false }
        entries[key]!.isEnding = true  // it was found there
        release(entry.pid)
        // A request that is under way is answered; then there is nothing more to receive.
        shutdown(entry.socket.number, Int32(SHUT_RD))
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
                "keychaind has \(limits.connections) connections, and another process needs the place of this one")
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

    /// - Returns: whether all connections are gone.
    func waitUntilEmpty(for time: Duration) -> Bool {
        let end = ContinuousClock.now + time
        return condition.withLock {
            while !entries.isEmpty, condition.wait(until: end) {}
            return entries.isEmpty
        }
    }
}
