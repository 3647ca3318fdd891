import Foundation
import Testing

/// Something that changes, for tests that wait for it.
final class Observed<Value: Sendable>: @unchecked Sendable {  // what varies is behind the condition
    private let condition = NSCondition()
    private var present: Value

    init(_ value: Value) { present = value }

    var value: Value { condition.withLock { present } }

    func update(_ change: (inout Value) -> Void) {
        condition.withLock {
            change(&present)
            condition.broadcast()
        }
    }

    /// - Parameter time: At most; what happens at all happens within the usual one. nil: an hour.
    /// - Returns: whether it came true.
    @discardableResult
    func wait(for time: Duration? = .seconds(60), until isTrue: (Value) -> Bool) -> Bool {
        let end = Date(timeIntervalSinceNow: (time ?? .seconds(3600)) / .seconds(1))
        return condition.withLock {
            while !isTrue(present) {
                if !condition.wait(until: end) { return isTrue(present) }
            }
            return true
        }
    }
}

/// A gate that a test opens, for answers that are to wait.
final class Gate: Sendable {
    private let waiting = Observed(0)
    private let opened = Observed(false)

    var isOpen: Bool { opened.value }

    func wait() {
        waiting.update { $0 += 1 }
        opened.wait { $0 }
    }

    func open() { opened.update { $0 = true } }

    /// Returns when so many wait. Fewer are an issue.
    func awaitArrival(of count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(waiting.wait { $0 >= count }, "\(waiting.value) came", sourceLocation: sourceLocation)
    }
}
