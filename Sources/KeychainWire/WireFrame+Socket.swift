internal import Foundation
internal import Glibc
internal import KeychainModel

extension WireFrame {
    /// The kernel takes no more parts at once (IOV_MAX).
    private static let mostParts = 1024

    /// Sends the frame over a socket straight from where its message and its secrets are, in one call if the socket
    /// takes it.
    ///
    /// - Returns: 0 or an errno value: `EAGAIN` if the socket has a time limit and it was over.
    package func send(over socket: Int32) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: WireHeader.byteCount, alignment: 8) { header in
            self.header.write(to: header)
            return message.withUnsafeBytes { message in
                withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2 + secrets.count) { parts in
                    parts.initializeElement(at: 0, to: iovec(UnsafeRawBufferPointer(header)))
                    parts.initializeElement(at: 1, to: iovec(message))
                    for (index, secret) in secrets.enumerated() {
                        // A secret's memory stays where it is as long as the secret does, and the frame has it.
                        parts.initializeElement(at: 2 + index, to: secret.withUnsafeBytes { iovec($0) })
                    }
                    return withExtendedLifetime(self) { Self.send(parts, over: socket) }
                }
            }
        }
    }

    private static func send(_ parts: UnsafeMutableBufferPointer<iovec>, over socket: Int32) -> Int32 {
        var rest = parts[...]
        while let first = rest.first {
            var message = msghdr()
            message.msg_iov = parts.baseAddress! + rest.startIndex
            message.msg_iovlen = min(rest.count, mostParts)
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
