package import FoundationEssentials
internal import Glibc

/// The time of day; a parameter, so that no test waits.
package protocol Clock: Sendable {
    /// Seconds since 2001-01-01 00:00 UTC.
    var now: Double { get }

    /// Nanoseconds since the system started, those asleep included.
    var sinceBoot: UInt64 { get }

    /// The id of the system's start.
    var bootID: UUID { get }

    /// All clocks at one moment, as the kernel has them.
    var reading: ClockReading { get }

    /// The time of day by the file system of a file, which is written to; nil if it cannot be told.
    func now(byWritingTo file: Int32) -> Double?

    /// Waits for this long in a loop that looks for something again and again.
    func pause(_ duration: Duration)
}

/// The readings of the clocks at one moment.
package struct ClockReading: Sendable {
    /// Seconds since 2001-01-01 00:00 UTC.
    package var now: Double
    /// Nanoseconds since the system started, those asleep included.
    package var sinceBoot: UInt64
    /// nil where the kernel hides it.
    package var bootID: UUID?
    /// Whether the kernel takes the time of day for synchronised.
    package var isSynchronized: Bool

    package init(now: Double, sinceBoot: UInt64, bootID: UUID?, isSynchronized: Bool) {
        self.now = now
        self.sinceBoot = sinceBoot
        self.bootID = bootID
        self.isSynchronized = isSynchronized
    }
}

/// A clock that has no system behind it. Its pauses take their time all the same.
extension Clock {
    package var reading: ClockReading {
        ClockReading(now: now, sinceBoot: sinceBoot, bootID: bootID, isSynchronized: false)
    }

    package func now(byWritingTo _: Int32) -> Double? { now }

    package func pause(_ duration: Duration) { usleep(UInt32(clamping: Int64(duration / .microseconds(1)))) }
}
