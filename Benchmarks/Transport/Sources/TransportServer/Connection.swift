import CTransport
import Glibc

/// One client of a server without a framework: bytes that arrived and are not yet answered.
///
/// Used by one thread at a time.
final class Connection: @unchecked Sendable {
    let socket: Int32
    private let rounds: UInt64
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
    private var filled = 0

    /// - Parameter rounds: Of work that each answer takes.
    init(socket: Int32, rounds: UInt64) {
        self.socket = socket
        self.rounds = rounds
    }

    deinit {
        close(socket)
        buffer.deallocate()
    }

    /// Waits until something arrives, and answers what is complete.
    ///
    /// - Returns: whether the client is still there.
    func answerNext() -> Bool {
        guard let start = buffer.baseAddress else { return false }
        let count = transport_receive(socket, start + filled, buffer.count - filled)
        if count < 0 && (errno == EINTR || errno == EAGAIN) { return true }
        guard count > 0 else { return false }
        filled += count
        while filled >= transport_header_size {
            let size = transport_frame_size(start)
            guard size <= buffer.count else { return false }
            if filled < size { break }
            filled -= size
            memmove(start, start + size, filled)
            guard answer() else { return false }
        }
        return true
    }

    private func answer() -> Bool {
        transport_work(rounds)
        return withUnsafeTemporaryAllocation(byteCount: Int(transport_reply_size), alignment: 16) { reply in
            transport_fill_frame(reply.baseAddress, reply.count)
            return transport_send(socket, reply.baseAddress, reply.count) == 0
        }
    }
}

/// Starts a detached thread with a small stack.
func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, 256 << 10)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(Body(body)).toOpaque()
    let failure = pthread_create(
        &thread, &attributes,
        { argument in
            guard let argument else { return nil }
            Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
            return nil
        }, argument)
    pthread_attr_destroy(&attributes)
    guard failure == 0 else { fatalError("no thread: \(String(cString: strerror(failure)))") }
}

/// Calls `body` with each connection that is made to `listener`, for ever.
func acceptAll(_ listener: Int32, rounds: UInt64, _ body: (Connection) -> Void) -> Never {
    while true {
        let socket = accept(listener, nil, nil)
        if socket >= 0 { body(Connection(socket: socket, rounds: rounds)) }
    }
}
