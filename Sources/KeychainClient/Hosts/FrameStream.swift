internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire

/// Frames over a connected socket (docs/protocol.md), with blocking calls. Belongs to one thread at a time.
final class FrameStream {
    enum Failure: Error {
        /// The other end closed the connection.
        case closed
        /// An errno value.
        case system(Int32)
        /// The other end was silent for so long.
        case late(Duration)
        case malformed(String)
    }

    /// The limit is more than any daemon sends.
    private static let mostBytes = 256 << 20
    private static let bufferSize = 16 << 10

    private let descriptor: Int32
    private let patience: Patience
    /// So many silent parts of the patience are too many.
    var mostSilentParts: Int
    /// The received bytes that are not a message yet. Erased whenever it may have held a secret.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 16)
    private var filled = 0
    /// Behind so many bytes nothing was received since it was erased.
    private var used = 0
    /// For a daemon that has to wake, and then does what takes no disk.
    private var awake = AwakeWait(microseconds: 500)

    /// - Parameter descriptor: A connected socket (``DaemonAddress/connect(_:)``), which is closed with the stream.
    init(_ descriptor: Int32, _ patience: Patience) {
        self.descriptor = descriptor
        self.patience = patience
        mostSilentParts = patience.parts
    }

    deinit {
        close(descriptor)
        ckeychain_erase(buffer.baseAddress, buffer.count)
        buffer.deallocate()
    }

    /// Ends what another thread waits for. Nothing comes or goes from now on.
    func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    // MARK: Sending

    /// Sends a frame, its secrets straight from where they are.
    func send(_ frame: WireFrame) throws(Failure) {
        var silent = 0
        let failure = frame.send(over: descriptor, progress: { _ in silent = 0 }) {
            silent += 1
            return patience.goesOn(after: silent, of: mostSilentParts)
        }
        switch failure {
        case 0: return
        case EPIPE, ECONNRESET: throw .closed
        case EAGAIN: throw .late(patience.time(of: silent))
        case let failure: throw .system(failure)
        }
    }

    // MARK: Receiving

    /// A thread that waits in recv(2) also wakes when the other end takes bytes from this one, and goes back to sleep.
    private func awaitInput() throws(Failure) {
        if awake.wait(until: { hasInput(within: 0) > 0 }) { return }
        var silent = 0
        while try !poll(until: .now + patience.part) {
            silent += 1
            guard patience.goesOn(after: silent, of: mostSilentParts) else { throw .late(patience.time(of: silent)) }
        }
    }

    /// Whether something has come, or the connection has ended, before the time is over.
    func waitForInput(until end: ContinuousClock.Instant) throws(Failure) -> Bool {
        filled > 0 ? true : try poll(until: end)
    }

    private func poll(until end: ContinuousClock.Instant) throws(Failure) -> Bool {
        while true {
            let left = max(.zero, ContinuousClock.now.duration(to: end)).components
            let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
            let count = hasInput(within: Int32(clamping: milliseconds))
            if count > 0 { return true }
            if count == 0 && ContinuousClock.now >= end { return false }
            if count < 0 && errno != EINTR { throw .system(errno) }
        }
    }

    /// - Returns: as poll(2).
    private func hasInput(within milliseconds: Int32) -> Int32 {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&event, 1, milliseconds)
    }

    /// The next message.
    func receive() throws(Failure) -> DaemonMessage {
        try fill(atLeast: WireHeader.byteCount)
        let header = WireHeader(UnsafeRawBufferPointer(rebasing: buffer[..<WireHeader.byteCount]))
        guard header.messageCount + header.tailCount <= Self.mostBytes else { throw .malformed("a size") }
        consume(WireHeader.byteCount)
        var message = Data(count: header.messageCount)
        var failure: Failure?
        message.withUnsafeMutableBytes { _ = take($0, &failure) }
        if let failure { throw failure }
        let tail = try takeTail(header.tailCount)
        do throws(WireFlaw) {
            return try DaemonMessage(message: message, tail: tail)
        } catch {
            switch error {
            case .unreadable(let what): throw .malformed(what)
            case .badRequest(_, let error): throw .malformed(error.message)
            }
        }
    }

    private func takeTail(_ count: Int) throws(Failure) -> SecretBytes? {
        guard count > 0 else { return nil }
        var failure: Failure?
        let tail = SecretBytes(expecting: count, receivingWith: { take($0, &failure) })
        // It went through here; what lies behind has nothing of it.
        ckeychain_erase(buffer.baseAddress! + filled, used - filled)
        used = filled
        if let failure { throw failure }
        return tail
    }

    /// Fills `target` from the buffer, and then from the socket straight.
    ///
    /// - Returns: the number of bytes that were written.
    private func take(_ target: UnsafeMutableRawBufferPointer, _ failure: inout Failure?) -> Int {
        let ready = min(filled, target.count)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<ready]))
        consume(ready)
        var done = ready
        while done < target.count {
            switch receive(into: UnsafeMutableRawBufferPointer(rebasing: target[done...])) {
            case .success(let count): done += count
            case .failure(let reason):
                failure = reason
                return done
            }
        }
        return done
    }

    private func fill(atLeast count: Int) throws(Failure) {
        while filled < count {
            try awaitInput()
            filled += try receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])).get()
            used = max(used, filled)
        }
    }

    private func consume(_ count: Int) {
        filled -= count
        memmove(buffer.baseAddress!, buffer.baseAddress! + count, filled)
    }

    private func receive(into target: UnsafeMutableRawBufferPointer) -> Result<Int, Failure> {
        while true {
            let count = recv(descriptor, target.baseAddress, target.count, Int32(MSG_DONTWAIT))
            if count > 0 { return .success(count) }
            if count == 0 { return .failure(.closed) }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                do throws(Failure) { try awaitInput() } catch { return .failure(error) }
            case ECONNRESET, EPIPE: return .failure(.closed)
            default: return .failure(.system(errno))
            }
        }
    }
}
