package import Foundation
package import KeychainCrypto

/// What an engine is told by its host.
package struct EngineConfiguration: Sendable {
    /// The directory that holds the store's files. Made, for the owner alone, if it is not there.
    package var storeDirectory: URL
    /// The directory of the device key: outside of the store's, so that a copy of the store opens nowhere else.
    package var deviceKeyDirectory: URL
    package var clock: any Clock
    package var randomness: any Randomness
    /// How long a call waits while another process writes.
    package var busyTimeout: TimeInterval = 5
    /// false: writes are not forced to the disk. For filling a store in benchmarks, never for secrets.
    package var isDurable = true

    package init(
        storeDirectory: URL, deviceKeyDirectory: URL, clock: any Clock = SystemClock(),
        randomness: any Randomness = SystemRandomness()
    ) {
        self.storeDirectory = storeDirectory
        self.deviceKeyDirectory = deviceKeyDirectory
        self.clock = clock
        self.randomness = randomness
    }
}

/// The time of day; a parameter, so that no test waits.
package protocol Clock: Sendable {
    /// Seconds since 2001-01-01 00:00 UTC.
    var now: Double { get }
}

package struct SystemClock: Clock {
    package init() {}
    package var now: Double { Date().timeIntervalSinceReferenceDate }
}
