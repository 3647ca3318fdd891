package import Foundation

/// The time of day; a parameter, so that no test waits.
package protocol Clock: Sendable {
    /// Seconds since 2001-01-01 00:00 UTC.
    var now: Double { get }

    /// Nanoseconds since the system started, those asleep included.
    var sinceBoot: UInt64 { get }

    /// Which start of the system that was.
    var bootID: UUID { get }
}
