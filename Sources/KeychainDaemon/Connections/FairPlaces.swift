internal import Dispatch
internal import FoundationEssentials
internal import Glibc
internal import KeychainSystem

/// Places for work that takes long, of which processes take turns: the process that has had places for the shortest
/// time has the next one, and among newcomers the process that asks for the fewest. Past work counts for less, the
/// longer ago it was. No process has all of them.
final class FairPlaces: @unchecked Sendable {  // the lock guards all variables
    private final class Waiter {
        let process: Int32
        let turn = DispatchSemaphore(value: 0)

        init(_ process: Int32) { self.process = process }
    }

    /// How long a process has had places.
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

    /// With more processes than this, their past is forgotten. A daemon has far fewer connections.
    private static let mostRemembered = 4_096

    private let mostPerProcess: Int
    private let lock = Condition()
    private var free: Int
    private var held: [Int32: Int] = [:]
    private var uses: [Int32: Use] = [:]
    /// The waiting threads in the order of their coming.
    private var waiting: [Waiter] = []

    init(_ count: Int) {
        free = count
        mostPerProcess = max(1, count - 1)
    }

    func hold<R, E: Error>(for process: Int32, _ body: () throws(E) -> R) throws(E) -> R {
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

    private func leave(_ process: Int32, after time: Duration) {
        lock.withLock {
            if uses.count >= Self.mostRemembered { uses.removeAll() }
            uses[process, default: Use()].add(time, at: .now)
            free += 1
            held[process] = held[process].flatMap { $0 > 1 ? $0 - 1 : nil }
            admit()
        }
    }

    private func admit() {
        while free > 0, let next = next {
            let process = waiting[next].process
            free -= 1
            held[process, default: 0] += 1
            waiting.remove(at: next).turn.signal()
        }
    }

    private var next: Int? {
        let now = ContinuousClock.now
        let asked = waiting.reduce(into: [:]) { $0[$1.process, default: 0] += 1 }
        func order(_ waiter: Waiter) -> (held: Int, used: Double, asked: Int) {
            let process = waiter.process
            return (held[process, default: 0], uses[process]?.seconds(at: now) ?? 0, asked[process, default: 0])
        }
        return waiting.indices.filter { held[waiting[$0].process, default: 0] < mostPerProcess }
            .min { order(waiting[$0]) < order(waiting[$1]) }
    }
}
