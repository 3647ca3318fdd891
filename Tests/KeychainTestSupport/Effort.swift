import Foundation

/// How much of an exhaustive loop a test takes: all of it with `KEYCHAIN_TORTURE=full`, as `Scripts/torture` does, and
/// otherwise a sample that visits every kind of place.
package enum Effort {
    package static let isFull = ProcessInfo.processInfo.environment["KEYCHAIN_TORTURE"] == "full"

    /// The step of a loop over places, of which a sample takes every n-th.
    package static func stride(_ sample: Int) -> Int { isFull ? 1 : sample }

    /// The length of a loop that has no natural end.
    package static func count(_ sample: Int, full: Int) -> Int { isFull ? full : sample }

    /// The same for draws by lot.
    package static func seeds(_ sample: UInt64, full: UInt64) -> UInt64 { isFull ? full : sample }
}
