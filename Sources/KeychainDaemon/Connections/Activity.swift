internal import Glibc
internal import Synchronization

/// The state of a connection, reported by its own thread and read by others.
final class Activity: Sendable {
    /// A frame that has begun is whole within this time, or its connection may lose its place.
    static let frameTime: UInt64 = 1_000_000_000

    /// Work is 0, waiting for a request 1, and a frame that is received the moment at which it began.
    private let state: Atomic<UInt64>

    /// A connection begins with a frame, its hello.
    init(frameBegan: UInt64 = Activity.now) { state = Atomic(max(2, frameBegan)) }

    /// The present time in nanoseconds.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    func wait() { state.store(1, ordering: .relaxed) }
    func beginFrame() { state.store(max(2, Self.now), ordering: .relaxed) }
    func work() { state.store(0, ordering: .relaxed) }

    /// Whether nothing is under way that its end would cut off.
    func isIdle(at now: UInt64) -> Bool {
        switch state.load(ordering: .relaxed) {
        case 0: false
        case 1: true
        case let began: began + Self.frameTime < now
        }
    }
}
