public import Foundation
internal import KeychainModel
internal import Synchronization

/// The clock of a test's keychain. It stands still until the test moves it.
///
/// ```swift
/// try test.items.add(item)
/// test.clock.advance(by: .seconds(3600))
/// try test.items.update(Keychain.GenericPassword.self) { $0.service = "s" } _: { $0.comment = "an hour later" }
/// ```
///
/// It begins with the time of day of the machine. It may be used by several threads.
public final class TestTime: Sendable {
    private struct State {
        var now: Double
        var sinceBoot: UInt64 = 1_000_000_000_000
        var bootID = UUID()
    }
    private let state: Mutex<State>

    init() { state = Mutex(State(now: Date().timeIntervalSinceReferenceDate)) }

    /// The time of day. Items that are stored now get it as their date.
    public var date: Date { Date(timeIntervalSinceReferenceDate: now) }

    /// Moves the clock forward. Waits after wrong passcodes and idle limits end by it.
    ///
    /// The keychain looks at the clock when it is used, so nothing happens at this call itself.
    ///
    /// - Parameter time: The time, more than 0. Another one ends the test's process.
    public func advance(by time: Duration) {
        precondition(time > .zero, "time passes in one direction")
        state.withLock { state in
            state.now += time / .seconds(1)
            state.sinceBoot += UInt64(time / .nanoseconds(1))
        }
    }

    func restart() { state.withLock { $0 = State(now: $0.now, sinceBoot: 0) } }
}

extension TestTime: KeychainModel.Clock {
    package var now: Double { state.withLock { $0.now } }
    package var sinceBoot: UInt64 { state.withLock { $0.sinceBoot } }
    package var bootID: UUID { state.withLock { $0.bootID } }
}
