internal import Glibc

/// Times single calls with the clock the floor uses.
enum Stopwatch {
    /// How long `work` took, in microseconds, and what it gave.
    static func time<R>(_ work: () throws -> R) rethrows -> (microseconds: Double, result: R) {
        let start = now
        let result = try work()
        return (now - start, result)
    }

    /// Microseconds.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}
