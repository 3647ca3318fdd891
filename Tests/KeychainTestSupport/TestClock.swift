package import Foundation
internal import KeychainModel
internal import Synchronization

/// A clock that moves only when a test moves it.
package final class TestClock: Clock {
    private struct Time {
        var now: Double
        var sinceBoot: UInt64 = 1_000_000_000_000
        var bootID = UUID()
    }
    private let time: Mutex<Time>

    package init(now: Double = 800_000_000) { time = Mutex(Time(now: now)) }

    package var now: Double { time.withLock { $0.now } }
    package var sinceBoot: UInt64 { time.withLock { $0.sinceBoot } }
    package var bootID: UUID { time.withLock { $0.bootID } }

    package func advance(by duration: Double) {
        time.withLock { time in
            time.now += duration
            time.sinceBoot += UInt64(duration * 1e9)
        }
    }

    /// Somebody sets the time of day back. The system does not notice.
    package func setBack(by duration: Double) { time.withLock { $0.now -= duration } }

    /// The system starts anew: the boot clock begins at nothing. What the kernel kept is up to the test.
    package func restart() {
        time.withLock { time in
            time.sinceBoot = 0
            time.bootID = UUID()
        }
    }
}
