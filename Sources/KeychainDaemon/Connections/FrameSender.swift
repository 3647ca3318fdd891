internal import Glibc
internal import KeychainModel
internal import KeychainWire

/// Sends frames over a connection, for the one thread that serves it.
struct FrameSender {
    private let socket: Int32

    /// - Parameter limit: How long nothing of what is sent may be taken.
    init(_ socket: Int32, limit: Duration) {
        self.socket = socket
        let (seconds, attoseconds) = limit.components
        var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Sends a frame straight from where its message and its secrets are.
    ///
    /// - Parameter progress: As ``WireFrame/send(over:progress:)``.
    func send(_ frame: WireFrame, progress: (Int) -> Void = { _ in }) throws(ConnectionEnd) {
        switch frame.send(over: socket, progress: progress) {
        case 0: return
        case EAGAIN: throw .unread
        default: throw .gone
        }
    }

    /// Says something last, if that can be done at once.
    func sendAtOnce(_ message: DaemonMessage) {
        var time = timeval(tv_sec: 0, tv_usec: 1)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        // Who cannot be told finds the connection closed.
        try? send(message.frame())
    }
}
