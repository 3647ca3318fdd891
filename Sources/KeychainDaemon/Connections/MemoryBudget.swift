internal import Foundation

/// How much memory may be taken by all its users together.
final class MemoryBudget: @unchecked Sendable {  // what varies is behind the condition
    /// A part of it, given back with the last reference.
    final class Share: Sendable {
        private let budget: MemoryBudget
        private let count: Int

        fileprivate init(_ budget: MemoryBudget, _ count: Int) {
            self.budget = budget
            self.count = count
        }

        deinit { budget.give(count) }
    }

    private let limit: Int
    private let condition = NSCondition()
    private var taken = 0

    init(_ limit: Int) { self.limit = limit }

    /// Waits until there is so much.
    ///
    /// - Returns: nil if the time was over first, or there can never be so much.
    func take(_ count: Int, within time: Duration) -> Share? {
        guard count <= limit else { return nil }
        let end = Date(timeIntervalSinceNow: time / .seconds(1))
        return condition.withLock {
            while taken + count > limit {
                guard condition.wait(until: end) else { return nil }
            }
            taken += count
            return Share(self, count)
        }
    }

    private func give(_ count: Int) {
        condition.withLock {
            taken -= count
            condition.broadcast()
        }
    }
}
