internal import Glibc
internal import KeychainSystem

/// How much memory all that is being received, worked on and sent may take together.
///
/// A share is taken before its memory and given back after it, and it never grows. Only one holder of a share at a time
/// waits for another share: two would each wait for the other's.
///
/// A client that announces much and sends nothing, or asks for much and reads nothing, takes its part for as long as it is
/// let. So when there is too little, the transfer that moves slowest is cut off. One that just began, one whose request is
/// being worked on, and one that the daemon itself keeps waiting, is left alone.
///
/// Where users share a daemon each has so much for itself, and all together have some times as much. When that is too
/// little for one that has less than its part, a transfer of a user that has more is cut off, however fast.
final class MemoryBudget: @unchecked Sendable {  // the condition guards all variables
    /// A part of it, given back with the last reference.
    final class Share: Sendable {
        private let budget: MemoryBudget
        fileprivate let number: UInt64

        fileprivate init(_ budget: MemoryBudget, _ number: UInt64) {
            self.budget = budget
            self.number = number
        }

        deinit { budget.give(number) }

        /// Notes the bytes that have come or gone.
        func note(_ count: Int) { budget.change(number) { $0.moved += count } }

        /// Nothing more comes or goes for the present: it is not cut off, and not given back soon.
        func pause() { budget.change(number) { ($0.direction, $0.isCutOff) = (nil, false) } }

        /// The memory is used for sending from now on.
        func send() { budget.change(number) { ($0.direction, $0.start, $0.moved) = (.sending, .now, 0) } }

        /// Gives a part of the share back.
        func shrink(to count: Int) { budget.shrink(number, to: count) }

        var wasCutOff: Bool { budget.wasCutOff(number) }
    }

    enum Direction { case receiving, sending }

    private struct Entry {
        let user: uid_t
        let socket: OpenDescriptor
        var count: Int
        let isSmall: Bool
        var start: ContinuousClock.Instant
        /// nil: the transfer is not cut off any more.
        var direction: Direction?
        var moved = 0
        var isCutOff = false

        /// In bytes a second; as if a first piece had come with its beginning.
        func speed(at now: ContinuousClock.Instant) -> Double {
            Double(moved + 65_536) / (start.duration(to: now) / .seconds(1))
        }

        /// Whether the transfer waits for its client, and not for a thread of this process that other work keeps from the
        /// processors.
        var waitsForClient: Bool {
            if direction == .sending && moved >= count { return false }
            var ready = pollfd(
                fd: socket.number, events: Int16(direction == .sending ? POLLOUT : POLLIN), revents: 0)
            return poll(&ready, 1, 0) == 0
        }
    }

    /// A transfer is not cut off before it is so old.
    private static let grace = Duration.milliseconds(100)
    /// One that moves as many bytes a second as this is not cut off.
    private static let leastSpeed = 8e6
    /// Between two looks for a transfer that may be cut off.
    private static let pause = Duration.milliseconds(50)

    private struct Taken {
        /// The bytes of large transfers and of small ones.
        var large = 0
        var small = 0

        var all: Int { large + small }
    }

    private let limits: Limits
    /// The limit of all users together.
    private let mostBytes: Int
    private let condition = Condition()
    /// The memory that is taken, for tests.
    var takenBytes: Int { condition.withLock { allTaken } }
    private var entries: [UInt64: Entry] = [:]
    private var last: UInt64 = 0
    /// The users of whom a holder of a share waits for another one.
    private var waitingHolders: Set<uid_t> = []
    private var taken: [uid_t: Taken] = [:]
    private var allTaken: Int { taken.values.reduce(0) { $0 + $1.all } }

    init(_ limits: Limits, isShared: Bool = false) {
        self.limits = limits
        mostBytes = isShared ? limits.usersOfAllMemory * (limits.transferBytes + limits.bytesForSmallTransfers) : .max
    }

    /// Small transfers have a part of their own, and beyond it the rest that large ones leave. Large ones never have a
    /// share of that part.
    ///
    /// - Parameters:
    ///   - coming: The bytes that were cut off and are given back in a moment.
    ///   - own: The bytes that the caller has already.
    private func hasRoom(
        _ count: Int, _ isSmall: Bool, of user: uid_t, without coming: Int = 0, own: Int = 0
    ) -> Bool {
        let taken = taken[user, default: Taken()]
        guard hasRoomAmongUsers(count, without: coming) else { return false }
        if isSmall && taken.small + count <= limits.bytesForSmallTransfers { return true }
        let beyond = max(0, taken.small - limits.bytesForSmallTransfers)
        let others = max(0, taken.large + beyond - coming - own)
        return others + own + count <= limits.transferBytes || (!isSmall && others == 0)
    }

    private func hasRoomAmongUsers(_ count: Int, without coming: Int = 0) -> Bool {
        let others = max(0, allTaken - coming)
        return others == 0 || count <= mostBytes - others
    }

    /// Waits until there is so much, or nothing else large of the user takes any.
    ///
    /// - Parameters:
    ///   - direction: nil for memory of work.
    ///   - held: The caller's present share, which it keeps.
    /// - Returns: nil if the time was over first, or at once if another holder of a share waits already.
    func take(
        _ count: Int, _ direction: Direction?, over socket: OpenDescriptor, of user: uid_t, besides held: Share? = nil
    ) -> Share? {
        let isSmall = count <= limits.smallTransferBytes
        let end = ContinuousClock.now + limits.memoryTime
        return condition.withLock {
            let own = held.flatMap { entries[$0.number] }.map { $0.isSmall ? 0 : $0.count } ?? 0
            var isWaitingHolder = false
            defer { if isWaitingHolder { waitingHolders.remove(user) } }
            while !hasRoom(count, isSmall, of: user, own: own) {
                if held != nil && !isWaitingHolder {
                    isWaitingHolder = waitingHolders.insert(user).inserted
                    if !isWaitingHolder { return nil }
                }
                cutOffSlowest(toHave: count, isSmall, of: user, own)
                let isOver = !condition.wait(until: min(end, .now + Self.pause))
                if isOver && .now >= end { return nil }
            }
            change(user, isSmall, by: count)
            last += 1
            entries[last] = Entry(
                user: user, socket: socket, count: count, isSmall: isSmall, start: .now, direction: direction)
            return Share(self, last)
        }
    }

    private func cutOffSlowest(toHave count: Int, _ isSmall: Bool, of user: uid_t, _ own: Int) {
        let now = ContinuousClock.now
        let isForUsers = !hasRoomAmongUsers(count)
        let part = mostBytes / Set(taken.keys).union([user]).count
        if isForUsers && taken[user, default: Taken()].all + count > part { return }
        func mayEnd(_ entry: Entry) -> Bool {
            guard entry.direction != nil, !entry.isCutOff, entry.start + Self.grace < now else { return false }
            let isTooMuch = isForUsers && entry.user != user && taken[entry.user, default: Taken()].all > part
            let isSlow = entry.user == user && entry.speed(at: now) < Self.leastSpeed && entry.waitsForClient
            return isTooMuch || isSlow
        }
        // Shares that were cut off come back in a moment.
        let cutOff = entries.values.filter { $0.isCutOff && (isForUsers || $0.user == user) }
        var coming = cutOff.reduce(0) { $0 + $1.count }
        let candidates = entries.filter { mayEnd($0.value) }
        for (number, entry) in candidates.sorted(by: { $0.value.speed(at: now) < $1.value.speed(at: now) }) {
            if isForUsers
                ? hasRoomAmongUsers(count, without: coming)
                : hasRoom(count, isSmall, of: user, without: coming, own: own)
            {
                return
            }
            coming += entry.count
            entries[number]!.isCutOff = true  // it was found there
            // A client that sends can still be told why.
            shutdown(entry.socket.number, Int32(entry.direction == .receiving ? SHUT_RD : SHUT_RDWR))
        }
    }

    private func change(_ number: UInt64, _ body: (inout Entry) -> Void) {
        condition.withLock { if entries[number] != nil { body(&entries[number]!) } }
    }

    private func shrink(_ number: UInt64, to count: Int) {
        condition.withLock {
            guard let entry = entries[number], count < entry.count else { return }
            change(entry.user, entry.isSmall, by: count - entry.count)
            entries[number]!.count = count  // it was found there
            condition.broadcast()
        }
    }

    private func change(_ user: uid_t, _ isSmall: Bool, by count: Int) {
        var present = taken[user, default: Taken()]
        if isSmall { present.small += count } else { present.large += count }
        taken[user] = present.all == 0 ? nil : present
    }

    private func wasCutOff(_ number: UInt64) -> Bool { condition.withLock { entries[number]?.isCutOff ?? false } }

    private func give(_ number: UInt64) {
        condition.withLock {
            if let entry = entries.removeValue(forKey: number) { change(entry.user, entry.isSmall, by: -entry.count) }
            condition.broadcast()
        }
    }
}
