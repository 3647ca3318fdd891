public import Foundation
internal import KeychainModel
internal import Synchronization

/// The time that a test's keychain goes by. It moves only when the test moves it.
public final class TestTime: Sendable {
    private struct State {
        var now: Double
        var sinceBoot: UInt64 = 1_000_000_000_000
        var bootID = UUID()
    }
    private let state: Mutex<State>

    init() { state = Mutex(State(now: Date().timeIntervalSinceReferenceDate)) }

    /// The time of day.
    public var date: Date { Date(timeIntervalSinceReferenceDate: now) }

    /// Lets time pass.
    ///
    /// - Parameter seconds: More than 0.
    public func advance(by seconds: TimeInterval) {
        precondition(seconds > 0, "time passes in one direction")
        state.withLock { state in
            state.now += seconds
            state.sinceBoot += UInt64(seconds * 1e9)
        }
    }

    func restart() { state.withLock { $0 = State(now: $0.now, sinceBoot: 0) } }
}

extension TestTime: KeychainModel.Clock {
    package var now: Double { state.withLock { $0.now } }
    package var sinceBoot: UInt64 { state.withLock { $0.sinceBoot } }
    package var bootID: UUID { state.withLock { $0.bootID } }
}
