internal import KeychainEngine
internal import Synchronization

/// A clock that moves only when a test moves it.
package final class TestClock: Clock {
    private let seconds: Mutex<Double>

    package init(now: Double = 800_000_000) { seconds = Mutex(now) }

    package var now: Double { seconds.withLock { $0 } }
    package func advance(by duration: Double) { seconds.withLock { $0 += duration } }
}
