internal import Glibc
internal import KeychainSystem
internal import KeychainWire

/// The present connections, counted by user and by process.
///
/// When all places are taken, the user with most of them gives one back to a user with fewer, and among the processes of
/// one user the process that has most to one that has fewer: an idle connection (``Activity``), or else its newest one,
/// which ends after its requests under way were answered. Otherwise a process without a connection has one of a few
/// further places. When these are taken too, it has the place of a connection that is idle. So idle connections keep
/// no process out, however many processes hold them.
final class ConnectionTable: @unchecked Sendable {  // the condition guards all variables
    private struct Entry {
        let socket: OpenDescriptor
        let process: ClientProcess
        let activity: Activity
        /// Counts the connections that there ever were.
        let number: UInt64
        /// The connection has given its place back.
        var isEnding = false
    }

    private let limits: Limits
    private let mostPerUser: Int
    private let condition = Condition()
    private var entries: [ObjectIdentifier: Entry] = [:]
    private var users: [uid_t: Int] = [:]
    private var counts: [ClientProcess: Int] = [:]
    private var last: UInt64 = 0

    /// - Parameter isShared: Whether several users have places. None has all of them then.
    init(_ limits: Limits, isShared: Bool = false) {
        self.limits = limits
        mostPerUser = isShared ? max(1, limits.connections / 2) : .max / 2
    }

    var count: Int { condition.withLock { entries.count } }

    /// The activities of all connections, in the order in which they came, for tests.
    var activities: [Activity] {
        condition.withLock { entries.values.sorted { $0.number < $1.number }.map(\.activity) }
    }

    /// Adds a connection.
    ///
    /// - Returns: the reason why it cannot be served; nil: it can.
    func add(_ socket: OpenDescriptor, of process: ClientProcess, _ activity: Activity) -> DaemonGoodbye? {
        condition.withLock {
            guard counts[process, default: 0] < limits.connectionsPerProcess else {
                return DaemonGoodbye(
                    .tooManyConnections,
                    "process \(process.pid) has \(limits.connectionsPerProcess) connections to keychaind already")
            }
            let taken = users.values.reduce(0, +)
            let own =
                mostPerUser < limits.connections
                ? entries.values.count { $0.process.user == process.user } : users[process.user, default: 0]
            let isFirst = counts[process] == nil && taken < limits.connections + limits.furtherConnections
            let hasRoom = taken < limits.connections && own < mostPerUser
            guard
                hasRoom || makeRoom(for: process) || isFirst && own < mostPerUser + limits.furtherConnections
                    || endIdle(for: process)
            else {
                return DaemonGoodbye(.tooManyConnections, "keychaind has \(limits.connections) connections already")
            }
            last += 1
            entries[ObjectIdentifier(socket)] = Entry(
                socket: socket, process: process, activity: activity, number: last)
            users[process.user, default: 0] += 1
            counts[process, default: 0] += 1
            return nil
        }
    }

    /// - Returns: false if no other user, and no other process of the user, has more connections than it would have.
    private func makeRoom(for process: ClientProcess) -> Bool {
        let own = users[process.user, default: 0]
        let richest = users.max { ($0.value, $0.key) < ($1.value, $1.key) }
        // A user at the limit gives to itself.
        let giver = richest.flatMap { $0.value > own + 1 && own < mostPerUser ? $0.key : nil } ?? process.user
        let most = counts.filter { $0.key.user == giver }.max { ($0.value, $0.key.pid) < ($1.value, $1.key.pid) }
        guard let most, giver != process.user || most.value > counts[process, default: 0] + 1 else { return false }
        let now = Activity.now
        func order(_ entry: Entry) -> (isIdle: Int, number: UInt64) {
            (entry.activity.isIdle(at: now) ? 1 : 0, entry.number)
        }
        return end { entries in
            entries.filter { $0.value.process == most.key }.max { order($0.value) < order($1.value) }?.key
        }
    }

    /// - Returns: false if no user, and no process of the user, with more connections than this one has an idle one.
    private func endIdle(for process: ClientProcess) -> Bool {
        let now = Activity.now
        let (ofUser, own) = (users[process.user, default: 0], counts[process, default: 0])
        func hasMore(_ other: ClientProcess) -> Bool {
            other.user == process.user
                ? counts[other, default: 0] > own : users[other.user, default: 0] > ofUser && ofUser < mostPerUser
        }
        func order(_ entry: Entry) -> (user: Int, count: Int, age: UInt64) {
            let process = entry.process
            return (users[process.user, default: 0], counts[process, default: 0], last - entry.number)
        }
        return end { entries in
            entries.filter { hasMore($0.value.process) && $0.value.activity.isIdle(at: now) }
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
        release(entry.process)
        // A request that is under way is answered; then there is nothing more to receive.
        shutdown(entry.socket.number, Int32(SHUT_RD))
        return true
    }

    private func release(_ process: ClientProcess) {
        func less(_ count: Int?) -> Int? { count.flatMap { $0 > 1 ? $0 - 1 : nil } }
        counts[process] = less(counts[process])
        users[process.user] = less(users[process.user])
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

    func remove(_ socket: OpenDescriptor, of process: ClientProcess) {
        condition.withLock {
            let entry = entries.removeValue(forKey: ObjectIdentifier(socket))
            if entry?.isEnding == false { release(process) }
            condition.broadcast()
        }
    }

    /// Ends what goes over connections in a direction (shutdown(2)), and thereby every wait for it.
    ///
    /// - Parameter user: nil: of all users.
    func shutDown(_ direction: Int32, of user: uid_t? = nil) {
        for entry in condition.withLock({ Array(entries.values) }) where user == nil || entry.process.user == user {
            shutdown(entry.socket.number, direction)
        }
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
