internal import CKeychainLinux
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire
internal import Synchronization

/// The message and the secrets that a client sent in one piece.
struct ReceivedFrame {
    var message: Data
    /// nil: there was none.
    var tail: SecretBytes?
    /// The memory of the frame, unless that is little, for as long as it or its decoded form is there.
    var share: MemoryBudget.Share?

    var header: WireHeader { WireHeader(messageCount: message.count, tailCount: tail?.count ?? 0) }
    var byteCount: Int { WireHeader.byteCount + header.contentCount }
}

/// Takes frames from a connection, for the one thread that serves it.
final class FrameReceiver {
    private typealias Instant = SuspendingClock.Instant

    private let descriptor: OpenDescriptor
    private var socket: Int32 { descriptor.number }
    private let peer: PeerIdentity
    private let limits: Limits
    private let budget: MemoryBudget
    private let activity: Activity
    /// Erased as it is read, since most frames are in it whole: not swapped where the system allows it, in no core file.
    private let buffer: UnsafeMutableRawBufferPointer
    /// How much of the buffer's beginning was received and not read yet.
    private var filled = 0
    private var awake = AwakeWait(microseconds: 250)
    private static let isOneAwake = Atomic(false)

    /// - Throws: `.goodbye` if there is no memory for a buffer.
    init(
        _ descriptor: OpenDescriptor, _ peer: PeerIdentity, _ limits: Limits, _ budget: MemoryBudget,
        _ activity: Activity
    ) throws(ConnectionEnd) {
        var pages: UnsafeMutableRawPointer?
        var isLocked: Int32 = 0
        guard KeychainSystem.ckeychain_map_pages(limits.bufferBytes, &pages, &isLocked) == 0, let pages else {
            throw .goodbye(.tooManyConnections, "there is no memory for another connection")
        }
        buffer = UnsafeMutableRawBufferPointer(start: pages, count: limits.bufferBytes)
        self.descriptor = descriptor
        self.peer = peer
        self.limits = limits
        self.budget = budget
        self.activity = activity
    }

    deinit { ckeychain_release_pages(buffer.baseAddress!, buffer.count) }

    /// The next frame. Every byte of it comes from the process that made the connection.
    ///
    /// - Parameters:
    ///   - mostBytes: The limit of message and tail together.
    ///   - limit: How long it may take until the frame is there. nil: it may begin at any time.
    /// - Throws: `.gone` also if the client closes the connection, between two frames or within one.
    func next(
        mostBytes: Int = .max, within limit: Duration? = nil
    ) throws(ConnectionEnd) -> ReceivedFrame {
        var deadline = limit.map { SuspendingClock.now + $0 }
        if limit == nil && filled == 0 { activity.wait() }
        defer { activity.work() }
        if filled == 0 { filled = try receive(into: buffer, until: deadline) }
        // Read from the clock only if it may be needed: most frames come at once.
        if filled < WireHeader.byteCount || filled < frameBytes {
            deadline = deadline ?? .now + limits.frameTime
            activity.beginFrame()
            try fill(to: WireHeader.byteCount, until: deadline)
        }
        let header = WireHeader(UnsafeRawBufferPointer(buffer))
        try check(header, mostBytes)
        let frame =
            frameBytes <= buffer.count
            ? try small(header, until: deadline) : try large(header, until: limit == nil ? nil : deadline)
        guard peer.isAlive else { throw .gone }
        return frame
    }

    /// The size of the frame whose header is in the buffer.
    private var frameBytes: Int {
        let header = WireHeader(UnsafeRawBufferPointer(buffer))
        return WireHeader.byteCount + header.contentCount
    }

    private func check(_ header: WireHeader, _ mostBytes: Int) throws(ConnectionEnd) {
        guard header.contentCount <= min(mostBytes, limits.frameBytes) else {
            throw .malformed(
                "a message of \(header.messageCount) bytes with \(header.tailCount) bytes of secrets is too large here")
        }
        guard header.messageCount > 0 else { throw .malformed("a message has at least one byte") }
    }

    private func small(_ header: WireHeader, until deadline: Instant?) throws(ConnectionEnd) -> ReceivedFrame {
        let end = frameBytes
        try fill(to: end, until: deadline)
        // Before it is decoded: until then it takes no more than the connection's buffer.
        let share = header.messageCount > limits.uncountedMessageBytes ? try takeMemory(header, nil) : nil
        let bytes = UnsafeRawBufferPointer(buffer)[WireHeader.byteCount..<end]
        let message = Data(bytes.prefix(header.messageCount))
        let tail = bytes.dropFirst(header.messageCount)
        defer { consume(end) }
        return ReceivedFrame(
            message: message,
            tail: tail.isEmpty ? nil : SecretBytes(copying: UnsafeRawBufferPointer(rebasing: tail)), share: share)
    }

    /// Each part is read to where it stays.
    ///
    /// - Parameter limit: nil: the usual time of a frame, from the moment on at which there is memory for it.
    private func large(_ header: WireHeader, until limit: Instant?) throws(ConnectionEnd) -> ReceivedFrame {
        let share = try takeMemory(header, .receiving)
        activity.beginFrame()
        let deadline = limit ?? SuspendingClock.now + limits.frameTime
        consume(WireHeader.byteCount)
        do throws(ConnectionEnd) {
            var frame = try content(header, share, until: deadline)
            share.pause()
            frame.share = share
            return frame
        } catch {
            // The memory is gone by now, and its share goes after it.
            throw share.wasCutOff ? Self.noMemory : error
        }
    }

    private static let noMemory = ConnectionEnd.goodbye(
        .tooSlow, "there is no memory for a message of this size at present: try again later")

    /// Takes the memory of a frame and its decoded form. The daemon causes the wait for memory, so that the wait costs
    /// the client no place.
    private func takeMemory(
        _ header: WireHeader, _ direction: MemoryBudget.Direction?
    ) throws(ConnectionEnd) -> MemoryBudget.Share {
        activity.work()
        let bytes = limits.memoryBytes(of: header)
        guard let share = budget.take(bytes, direction, over: descriptor, of: peer.process.user) else {
            throw Self.noMemory
        }
        return share
    }

    private func content(
        _ header: WireHeader, _ share: MemoryBudget.Share, until deadline: Instant
    ) throws(ConnectionEnd) -> ReceivedFrame {
        var end: ConnectionEnd?
        func fill(_ target: UnsafeMutableRawBufferPointer) -> Int {
            end == nil ? take(into: target, share, until: deadline, &end) : 0
        }
        var message = Data(count: header.messageCount)
        message.withUnsafeMutableBytes { _ = fill($0) }
        let tail = header.tailCount == 0 ? nil : SecretBytes(expecting: header.tailCount, receivingWith: fill)
        if let end { throw end }
        return ReceivedFrame(message: message, tail: tail)
    }

    // MARK: Bytes

    /// Receives until so much is in the buffer.
    private func fill(to count: Int, until deadline: Instant?) throws(ConnectionEnd) {
        while filled < count {
            filled += try receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), until: deadline)
        }
    }

    /// Fills `target` with the bytes in the buffer and the next ones from the socket.
    ///
    /// - Parameter end: The reason why it is not full.
    /// - Returns: the number of bytes that were written.
    private func take(
        into target: UnsafeMutableRawBufferPointer, _ share: MemoryBudget.Share, until deadline: Instant,
        _ end: inout ConnectionEnd?
    ) -> Int {
        var count = min(filled, target.count)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        consume(count)
        do throws(ConnectionEnd) {
            while count < target.count {
                let more = try receive(into: UnsafeMutableRawBufferPointer(rebasing: target[count...]), until: deadline)
                share.note(more)
                count += more
            }
        } catch {
            end = error
        }
        return count
    }

    /// Forgets the beginning of the buffer.
    private func consume(_ count: Int) {
        let start = buffer.baseAddress!
        memmove(start, start + count, filled - count)
        KeychainSystem.ckeychain_erase(start + (filled - count), count)
        filled -= count
    }

    /// Receives at least one byte.
    ///
    /// - Parameter deadline: nil: whenever it comes.
    private func receive(
        into target: UnsafeMutableRawBufferPointer, until deadline: Instant?
    ) throws(ConnectionEnd) -> Int {
        var count = 0
        var sender = ckeychain_sender()
        // A thread that waited in recvmsg(2) would also wake when the client takes its answer.
        if deadline == nil && !waitAwake() { try wait(until: nil) }
        while true {
            let failure = ckeychain_receive(socket, target.baseAddress!, target.count, &count, &sender)
            if failure == 0 { break }
            guard failure == EAGAIN || failure == EINTR else { throw .gone }
            try wait(until: deadline)
        }
        guard count > 0 else { throw .gone }
        try peer.require(sender)
        return count
    }

    private func wait(until deadline: Instant?) throws(ConnectionEnd) {
        let left = deadline.map { SuspendingClock.now.duration(to: $0) / .milliseconds(1) }
        if let left, left <= 0 {
            throw .goodbye(.tooSlow, "a message must be sent whole at once, and this one was not")
        }
        var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, left.map { Int32($0.rounded(.up)) } ?? -1)
    }

    /// Waits awake for a client that asks again at once. One thread does so at a time: where several clients ask, it
    /// would only keep processors from them.
    private func waitAwake() -> Bool {
        guard !Self.isOneAwake.exchange(true, ordering: .acquiring) else { return false }
        defer { Self.isOneAwake.store(false, ordering: .releasing) }
        return awake.wait {
            var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            return poll(&waiting, 1, 0) > 0
        }
    }
}
