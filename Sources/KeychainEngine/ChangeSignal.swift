internal import KeychainSystem

/// Wakes threads that wait for a change.
package final class ChangeSignal: @unchecked Sendable {  // the condition guards its state
    private let condition = Condition()
    private var hasStopped = false

    package init() {}

    /// Wakes the waiting threads. The change must be complete.
    func give() {
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }

    /// Ends every wait, present and future.
    func stop() {
        condition.lock()
        hasStopped = true
        condition.broadcast()
        condition.unlock()
    }

    /// Returns when `isTrue`, which is asked after each change, or when the time is over; nil: no limit.
    func wait(until end: ContinuousClock.Instant?, _ isTrue: () -> Bool) {
        condition.lock()
        defer { condition.unlock() }
        while !hasStopped && !isTrue() {
            guard let end else {
                condition.wait()
                continue
            }
            guard condition.wait(until: end) else { return }
        }
    }
}
