internal import Dispatch
internal import Glibc
internal import KeychainSystem

/// Places for work that takes long, of which users take turns, and the processes of a user among themselves: the one that
/// has had places for the shortest time has the next one, and among newcomers the one that asks for the fewest. Past work
/// counts for less, the longer ago it was. No process has all of them, and no user where there are several.
final class FairPlaces: @unchecked Sendable {  // the lock guards all variables
    private final class Waiter {
        let process: ClientProcess
        let turn = DispatchSemaphore(value: 0)

        init(_ process: ClientProcess) { self.process = process }
    }

    /// How long places were held.
    private struct Use {
        /// After this time half of the use counts.
        private static let halfLife = 10.0

        private var amount = 0.0
        private var moment = ContinuousClock.now

        func seconds(at now: ContinuousClock.Instant) -> Double {
            amount * exp2(-(moment.duration(to: now) / .seconds(1)) / Self.halfLife)
        }

        mutating func add(_ time: Duration, at now: ContinuousClock.Instant) {
            amount = seconds(at: now) + time / .seconds(1)
            moment = now
        }
    }

    /// The places that users or processes have, and have had.
    private struct Ledger<Holder: Hashable> {
        /// With more holders than this, their past is forgotten. A daemon has far fewer connections.
        private static var mostRemembered: Int { 4_096 }

        let most: Int
        private var held: [Holder: Int] = [:]
        private var uses: [Holder: Use] = [:]

        init(most: Int) { self.most = most }

        func mayTake(_ holder: Holder) -> Bool { held[holder, default: 0] < most }

        func order(_ holder: Holder, at now: ContinuousClock.Instant) -> (held: Int, used: Double) {
            (held[holder, default: 0], uses[holder]?.seconds(at: now) ?? 0)
        }

        mutating func take(_ holder: Holder) { held[holder, default: 0] += 1 }

        mutating func give(_ holder: Holder, after time: Duration) {
            if uses.count >= Self.mostRemembered { uses.removeAll() }
            uses[holder, default: Use()].add(time, at: .now)
            held[holder] = held[holder].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }

    private let lock = Condition()
    private var free: Int
    private var users: Ledger<uid_t>
    private var processes: Ledger<ClientProcess>
    /// The waiting threads in the order of their coming.
    private var waiting: [Waiter] = []

    init(_ count: Int, isShared: Bool = false) {
        free = count
        processes = Ledger(most: max(1, count - 1))
        users = Ledger(most: isShared ? max(1, count - 1) : .max)
    }

    func hold<R, E: Error>(for process: ClientProcess, _ body: () throws(E) -> R) throws(E) -> R {
        let waiter = Waiter(process)
        lock.withLock {
            waiting.append(waiter)
            admit()
        }
        waiter.turn.wait()
        let start = ContinuousClock.now
        defer { leave(process, after: start.duration(to: .now)) }
        return try body()
    }

    /// The number of waiting threads, for tests.
    var waitingCount: Int { lock.withLock { waiting.count } }

    private func leave(_ process: ClientProcess, after time: Duration) {
        lock.withLock {
            users.give(process.user, after: time)
            processes.give(process, after: time)
            free += 1
            admit()
        }
    }

    private func admit() {
        while free > 0, let next = next {
            let process = waiting[next].process
            free -= 1
            users.take(process.user)
            processes.take(process)
            waiting.remove(at: next).turn.signal()
        }
    }

    private var next: Int? {
        let now = ContinuousClock.now
        let askedByUser = waiting.reduce(into: [:]) { $0[$1.process.user, default: 0] += 1 }
        let asked = waiting.reduce(into: [:]) { $0[$1.process, default: 0] += 1 }
        func order(_ waiter: Waiter) -> (Int, Double, Int, Int, Double, Int) {
            let process = waiter.process
            let (ofUser, own) = (users.order(process.user, at: now), processes.order(process, at: now))
            return (
                ofUser.held, ofUser.used, askedByUser[process.user, default: 0],
                own.held, own.used, asked[process, default: 0]
            )
        }
        return waiting.indices
            .filter { users.mayTake(waiting[$0].process.user) && processes.mayTake(waiting[$0].process) }
            .min { order(waiting[$0]) < order(waiting[$1]) }
    }
}
