internal import Glibc
internal import Synchronization

/// How long a daemon may be silent while a call waits for it.
///
/// The silence is counted in parts, so that a process which was itself stopped for an hour has missed one part and not the
/// whole time.
package struct Patience: Sendable {
    /// Connections to a daemon use this. A program sets it at its start.
    package static var ofProcess: Patience {
        get { process.withLock { $0 } ?? Patience() }
        set { process.withLock { $0 = newValue } }
    }
    /// Absent at first: in an optimised program (Swift 6.3.1) a global lock that began with a value held zeros.
    private static let process = Mutex<Patience?>(nil)

    package var part = Duration.seconds(3)
    /// The number of parts without a byte that end a call.
    package var parts = 10
    /// The number of such parts for a daemon that gives no signs of life while it works.
    package var partsWithoutSigns = 100
    /// The number of signs of life, one each two seconds, that end a call without an answer.
    package var mostSigns = 300
    /// The time after a silent call in which no other call but a lock asks the daemon.
    package var remembered = Duration.seconds(9)
    /// Called with the reason of a call's wait, once a part of the time is over.
    package var notice: @Sendable (String) -> Void = { _ in }
    /// The pause between two attempts to reach a daemon that is being started anew.
    package var pause: @Sendable () -> Void = { usleep(20_000) }

    package init() {}

    var milliseconds: Int32 { Int32(clamping: Int64(part / .milliseconds(1))) }

    func time(of parts: Int) -> Duration { part * parts }

    /// Whether to wait on when so many parts in a row were silent.
    func goesOn(after silent: Int, of most: Int) -> Bool {
        if silent == 1 {
            notice("keychaind has been silent for \(part.inSeconds): waiting up to \(time(of: most).inSeconds) for it")
        }
        return silent < most
    }

    /// Whether to wait on when so many signs of life have come.
    func goesOn(afterSigns count: Int) -> Bool {
        if count == 5 { notice("keychaind is still at work: waiting for it") }
        return count < mostSigns
    }
}

extension Duration {
    var inSeconds: String { "\(Int(self / .seconds(1))) seconds" }
}
