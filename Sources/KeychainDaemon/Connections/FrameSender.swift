internal import Foundation
internal import Glibc
internal import KeychainModel

/// Sends frames over a connection, for the one thread that serves it.
struct FrameSender {
    /// The kernel takes no more parts at once (IOV_MAX).
    private static let mostParts = 1024

    private let socket: Int32

    /// - Parameter limit: How long nothing of what is sent may be taken.
    init(_ socket: Int32, limit: Duration) {
        self.socket = socket
        let (seconds, attoseconds) = limit.components
        var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Sends a frame straight from where its message and its secrets are.
    func send(_ frame: WireFrame) throws(ConnectionEnd) {
        let failure = withUnsafeTemporaryAllocation(byteCount: WireHeader.byteCount, alignment: 8) { header in
            frame.header.write(to: header)
            return frame.message.withUnsafeBytes { message in
                withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2 + frame.secrets.count) { parts in
                    parts.initializeElement(at: 0, to: iovec(UnsafeRawBufferPointer(header)))
                    parts.initializeElement(at: 1, to: iovec(message))
                    for (index, secret) in frame.secrets.enumerated() {
                        // A secret's memory stays where it is as long as the secret does, and the frame has it.
                        parts.initializeElement(at: 2 + index, to: secret.withUnsafeBytes { iovec($0) })
                    }
                    return withExtendedLifetime(frame) { send(parts) }
                }
            }
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
        // Who cannot be told finds the connection closed.
        try? send(message.frame())
    }

    /// - Returns: 0 or an errno value.
    private func send(_ parts: UnsafeMutableBufferPointer<iovec>) -> Int32 {
        var rest = parts[...]
        while let first = rest.first {
            var message = msghdr()
            message.msg_iov = parts.baseAddress! + rest.startIndex
            message.msg_iovlen = min(rest.count, Self.mostParts)
            var sent = first.iov_len == 0 ? 0 : sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
            if sent < 0 {
                if errno == EINTR { continue }
                return errno
            }
            while let first = rest.first, sent >= first.iov_len {
                sent -= first.iov_len
                rest = rest.dropFirst()
            }
            if sent > 0 {
                rest[rest.startIndex].iov_base += sent
                rest[rest.startIndex].iov_len -= sent
            }
        }
        return 0
    }
}

extension iovec {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }
}
