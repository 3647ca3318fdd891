internal import Glibc

/// Waits awake for something that is about to come, if that is worth it: a processor that has gone to sleep takes
/// longer to wake than most requests take to answer (docs/decisions/034-waiting-awake.md).
///
/// A thread that waits like this gives way to every other one at each step. When it has lost more time than waits in
/// time can have gained, it does not wait awake for a while: a second, and twice as long each time until waits in time
/// have made it good. Time is lost if a thread that computes took the processor, or nothing came.
package struct AwakeWait {
    /// Nanoseconds.
    package typealias Moment = UInt64

    /// The processor that the thread runs on, and its clock.
    package struct Processor: Sendable {
        /// The clock's moment 0 does not matter.
        package var now: @Sendable () -> Moment
        /// Lets other threads run that want to; returns at once if none does.
        package var giveWay: @Sendable () -> Void

        package init(now: @escaping @Sendable () -> Moment, giveWay: @escaping @Sendable () -> Void) {
            self.now = now
            self.giveWay = giveWay
        }

        package static let system = Processor(
            now: {
                var time = timespec()
                clock_gettime(CLOCK_MONOTONIC, &time)
                return Moment(time.tv_sec) * 1_000_000_000 + Moment(time.tv_nsec)
            }, giveWay: { sched_yield() })
    }

    /// About what sleeping would have cost, on machines where that is little.
    private static let gain: Int64 = 20_000
    /// The most that may be lost: a slice of a thread that computes, and one more ends it.
    private static let most: Int64 = 5_000_000
    private static let shortestPause: Moment = 1_000_000_000
    private static let longestPause: Moment = 64_000_000_000

    private let limit: Moment
    private let processor: Processor
    /// Nanoseconds that may still be lost.
    private var credit = most
    private var pause = shortestPause
    private var endOfPause: Moment = 0

    /// - Parameter limit: Microseconds that a wait has at most, besides the work of others.
    package init(microseconds limit: UInt64, on processor: Processor = .system) {
        self.limit = limit * 1_000
        self.processor = processor
    }

    /// Returns when it is there, or waiting awake is not worth it.
    ///
    /// - Parameter isThere: Asked again and again; must not wait.
    /// - Returns: whether it is there.
    package mutating func wait(until isThere: () -> Bool) -> Bool {
        let start = processor.now()
        guard start >= endOfPause else { return false }
        var now = start
        var isThereNow = isThere()
        while !isThereNow && now - start < limit {
            processor.giveWay()
            isThereNow = isThere()
            now = processor.now()
        }
        note(now - start, isInTime: isThereNow && now - start < limit)
        if credit < 0 { stop(at: now) }
        return isThereNow
    }

    private mutating func note(_ time: Moment, isInTime: Bool) {
        credit = isInTime ? min(credit + Self.gain, Self.most) : credit - Int64(clamping: time)
        if credit == Self.most { pause = Self.shortestPause }
    }

    private mutating func stop(at now: Moment) {
        endOfPause = now + pause
        pause = min(2 * pause, Self.longestPause)
        credit = Self.most / 2
    }
}
