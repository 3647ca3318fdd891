internal import Glibc
internal import KeychainSystem
internal import KeychainWire
internal import Synchronization

/// Sends frames over a connection: messages of the thread that serves it, and between a request and its answer signs of life
/// of another one.
final class FrameSender: Sendable {
    /// Kept open for the thread that gives signs.
    private let descriptor: OpenDescriptor
    private var socket: Int32 { descriptor.number }
    /// The request that is worked on, or waits for its turn. Held while a frame is sent, so that none comes within it.
    private let underWay = Mutex<UInt64?>(nil)

    /// - Parameter limit: The time in which the client must take some of the bytes.
    init(_ descriptor: OpenDescriptor, limit: Duration) {
        self.descriptor = descriptor
        let (seconds, attoseconds) = limit.components
        var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        setsockopt(descriptor.number, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    // MARK: Signs of life

    /// From now on until something is sent, the client waits for the answer to this request.
    func begin(_ id: UInt64) { underWay.withLock { $0 = id } }

    /// Says that the daemon runs, if the client waits for an answer and has taken the bytes so far.
    ///
    /// - Returns: whether a request is under way. The call never waits.
    func giveSign() -> Bool {
        underWay.withLockIfAvailable { id -> Bool in
            guard let id else { return false }
            // If there is room for a quarter of the kernel's buffer, a small frame is taken whole and at once.
            var room = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
            if poll(&room, 1, 0) == 1 && room.revents == Int16(POLLOUT) {
                // The thread that serves the connection notices a fault of it.
                _ = DaemonMessage.working(id: id).frame().send(over: socket)
            }
            return true
        } ?? true
    }

    // MARK: Messages

    /// Sends a frame straight from where its message and its secrets are.
    ///
    /// - Parameter progress: Called as by ``WireFrame/send(over:progress:)``.
    func send(_ frame: WireFrame, progress: (Int) -> Void = { _ in }) throws(ConnectionEnd) {
        let failure = underWay.withLock { id in
            id = nil
            return frame.send(over: socket, progress: progress)
        }
        switch failure {
        case 0: return
        case EAGAIN: throw .unread
        default: throw .gone
        }
    }

    /// Says something last, if that can be done at once.
    func sendAtOnce(_ message: DaemonMessage) {
        var time = timeval(tv_sec: 0, tv_usec: 1)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        // A client that cannot be told finds the connection closed.
        try? send(message.frame())
    }
}
