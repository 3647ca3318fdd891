package import Foundation
internal import Glibc
package import KeychainModel
internal import Synchronization

/// A clock that moves only when a test moves it.
package final class TestClock: Clock {
    private struct Time {
        var now: Double
        var sinceBoot: UInt64 = 1_000_000_000_000
        var bootID = UUID()
        var isSynchronized = false
        var isNameless = false
        var fileOffset: Double? = 0
        /// How often each thread has paused.
        var pauses: [pthread_t: Int] = [:]
    }
    private let time: Mutex<Time>

    package init(now: Double = 800_000_000) { time = Mutex(Time(now: now)) }

    package var now: Double { time.withLock { $0.now } }
    package var sinceBoot: UInt64 { time.withLock { $0.sinceBoot } }
    package var bootID: UUID { time.withLock { $0.bootID } }

    package var reading: ClockReading {
        time.withLock { time in
            ClockReading(
                now: time.now, sinceBoot: time.sinceBoot, bootID: time.isNameless ? nil : time.bootID,
                isSynchronized: time.isSynchronized)
        }
    }

    package func now(byWritingTo _: Int32) -> Double? {
        time.withLock { time in time.fileOffset.map { time.now + $0 } }
    }

    /// Waits for a moment of the machine's time, since the loop may look for something else than the time.
    package func pause(_: Duration) {
        time.withLock { $0.pauses[pthread_self(), default: 0] += 1 }
        usleep(1_000)
    }

    /// Waits until so many threads have paused twice, so that the loop of each has looked once more than now.
    ///
    /// - Parameter isOver: Whether there is nothing to wait for any more.
    /// - Returns: false after a minute.
    package func awaitPauses(ofThreads count: Int, unless isOver: () -> Bool) -> Bool {
        let former = time.withLock { $0.pauses }
        func haveLooked() -> Bool {
            time.withLock { $0.pauses.count { $1 >= former[$0, default: 0] + 2 } } >= count
        }
        let end = ContinuousClock.now + .seconds(60)
        while !haveLooked(), !isOver() {
            guard ContinuousClock.now < end else { return false }
            usleep(1_000)
        }
        return true
    }

    /// What the kernel says of the time of day from now on.
    package func setSynchronized(_ isSynchronized: Bool) { time.withLock { $0.isSynchronized = isSynchronized } }

    /// From now on the kernel hides which start of the system this is.
    package func hideBoot() { time.withLock { $0.isNameless = true } }

    /// By how many seconds the file system's clock is ahead of the time of day; nil: it cannot be told.
    package func setFileOffset(_ offset: Double?) { time.withLock { $0.fileOffset = offset } }

    /// Somebody sets the time of day ahead. The system does not notice.
    package func setAhead(by duration: Double) { setBack(by: -duration) }

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
