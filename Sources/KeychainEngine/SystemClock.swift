internal import CKeychainLinux
package import FoundationEssentials
internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// The clock of the machine.
package struct SystemClock: Clock {
    package init() {}
    package var now: Double { Date().timeIntervalSinceReferenceDate }

    package var sinceBoot: UInt64 { SystemStart.age }

    package var bootID: UUID { Self.bootID }

    /// If the kernel hides the identifier, all starts count as one, and the boot clock alone tells waiting times.
    private static let bootID = SystemStart.id ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// The clocks are read by system calls: a library that is loaded before the C library, to show a program another
    /// time, does not change them.
    package var reading: ClockReading {
        let sinceBoot = Self.read(CLOCK_BOOTTIME)
        return ClockReading(
            now: Self.seconds(Self.read(CLOCK_REALTIME)),
            sinceBoot: UInt64(sinceBoot.tv_sec) &* 1_000_000_000 &+ UInt64(sinceBoot.tv_nsec)
                &- SystemStart.namespaceOffset,
            bootID: SystemStart.id, isSynchronized: ckeychain_is_clock_synchronized() != 0)
    }

    package func now(byWritingTo file: Int32) -> Double? {
        var information = stat()
        guard futimens(file, nil) == 0, fstat(file, &information) == 0 else { return nil }
        return Self.seconds(information.st_ctim)
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var (seconds, nanoseconds) = (Int64(), Int32())
        // Every Linux has these two clocks.
        _ = ckeychain_read_clock(clock, &seconds, &nanoseconds)
        return timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
    }

    /// The seconds since 2001-01-01 00:00 UTC.
    private static func seconds(_ time: timespec) -> Double {
        Double(time.tv_sec) - Date.timeIntervalBetween1970AndReferenceDate + Double(time.tv_nsec) / 1e9
    }
}
