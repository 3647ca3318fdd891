internal import Glibc
internal import KeychainModel

extension WireFrame {
    /// The kernel takes no more parts at once (IOV_MAX).
    private static let mostParts = 1024
    /// A call of the kernel's does not return before the other end has taken all of it.
    private static let mostBytesAtOnce = 1 << 20

    /// Sends the frame over a socket straight from where its message and its secrets are, in one call if it is no large one
    /// and the socket takes it.
    ///
    /// - Parameters:
    ///   - progress: Told how many bytes the other end has taken since the call before.
    ///   - goesOn: Asked each time that nothing was taken within the socket's time limit.
    /// - Returns: 0 or an errno value: `EAGAIN` if the time limit was over and that was the end.
    package func send(
        over socket: Int32, progress: (Int) -> Void = { _ in }, goesOn: () -> Bool = { false }
    ) -> Int32 {
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
                    return withExtendedLifetime(self) { Self.send(parts, over: socket, progress, goesOn) }
                }
            }
        }
    }

    private static func send(
        _ parts: UnsafeMutableBufferPointer<iovec>, over socket: Int32, _ progress: (Int) -> Void, _ goesOn: () -> Bool
    ) -> Int32 {
        var rest = parts[...]
        while let first = rest.first {
            var sent = first.iov_len == 0 ? 0 : sendNext(of: rest, over: socket)
            if sent < 0 {
                let failure = errno
                if failure == EINTR || failure == EAGAIN && goesOn() { continue }
                return failure
            }
            progress(sent)
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

extension WireFrame {
    /// - Parameter parts: The first one is not empty.
    /// - Returns: as sendmsg(2).
    private static func sendNext(of parts: Slice<UnsafeMutableBufferPointer<iovec>>, over socket: Int32) -> Int {
        var message = msghdr()
        var first = parts[parts.startIndex]
        var count = first.iov_len
        if count > mostBytesAtOnce {
            first.iov_len = mostBytesAtOnce
            return withUnsafeMutablePointer(to: &first) {
                (message.msg_iov, message.msg_iovlen) = ($0, 1)
                return sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
            }
        }
        let together = parts.prefix(mostParts).dropFirst().prefix {
            count += $0.iov_len
            return count <= mostBytesAtOnce
        }
        message.msg_iov = parts.base.baseAddress! + parts.startIndex
        message.msg_iovlen = 1 + together.count
        return sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
    }
}

extension iovec {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }
}
