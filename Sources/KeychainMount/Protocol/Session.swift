internal import CKeychainFuse
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The threads that answer the kernel, from the first request to the end of the mount.
final class Session: Sendable {
    /// The most threads. One that waits for another program's lock of a file does not keep the rest waiting.
    private static let mostThreads = 64
    /// In milliseconds. No other program keeps a call waiting for longer.
    private static let longestLockWait = Int32(Node.longestWait / .milliseconds(1))
    /// The oldest protocol that is spoken here, of Linux 5.4.
    private static let oldestMinor: UInt32 = 31

    private let device: Device
    private let volume: Volume
    /// Requests that wait for no other program.
    private static let quick = [
        FUSE_LOOKUP, FUSE_FORGET, FUSE_BATCH_FORGET, FUSE_GETATTR, FUSE_READDIR, FUSE_READDIRPLUS, FUSE_OPENDIR,
        FUSE_RELEASEDIR, FUSE_GETXATTR, FUSE_RELEASE, FUSE_READLINK,
    ].map(\.rawValue)
    /// While so many threads answer quick requests, no thread is added: it would only keep others from the processors.
    private static let mostQuick = 4
    private struct Threads {
        var all = 0
        var waiting = 0
        var quick = 0
    }
    private let threads = BriefLock(Threads())
    private let end = Condition()

    init(_ device: Device, _ volume: Volume) {
        self.device = device
        self.volume = volume
    }

    /// Agrees on the protocol with the kernel.
    ///
    /// - Throws: `EPROTO` for a kernel that is too old; `ENODEV` if the mount has ended already.
    func begin() throws(Refusal) {
        let memory = Memory()
        guard let count = device.receive(into: memory.request) else { throw Refusal(ENODEV) }
        guard var request = Request(UnsafeRawBufferPointer(rebasing: memory.request[..<count])),
            request.header.opcode == FUSE_INIT.rawValue
        else { throw Refusal(EPROTO) }
        let unique = request.header.unique
        // An older kernel sends less than the whole structure. The first fields are enough.
        let (major, minor) = (try request.take(UInt32.self), try request.take(UInt32.self))
        let (readAhead, offered) = (try request.take(UInt32.self), try request.take(UInt32.self))
        var reply = Reply(in: memory.reply)
        guard major == UInt32(FUSE_KERNEL_VERSION), minor >= Self.oldestMinor else {
            device.send(reply.finished(unique, Refusal(EPROTO)))
            throw Refusal(EPROTO)
        }
        var answer = fuse_init_out()
        answer.major = major
        answer.minor = min(minor, UInt32(FUSE_KERNEL_MINOR_VERSION))
        answer.max_readahead = readAhead
        answer.flags = offered & Self.flags
        answer.max_background = 64
        answer.congestion_threshold = 48
        answer.max_write = UInt32(Device.mostContent)
        answer.max_pages = UInt16(Device.mostContent / 4096)
        answer.time_gran = 1
        try reply.add(answer)
        device.send(reply.finished(unique, nil))
    }

    /// FUSE_WRITEBACK_CACHE is not among them: a write is with this program before it is answered, and so before a lock.
    private static let flags = [
        FUSE_ASYNC_READ, FUSE_BIG_WRITES, FUSE_ATOMIC_O_TRUNC, FUSE_DO_READDIRPLUS, FUSE_READDIRPLUS_AUTO,
        FUSE_ASYNC_DIO,
        FUSE_PARALLEL_DIROPS, FUSE_MAX_PAGES, FUSE_AUTO_INVAL_DATA, FUSE_HANDLE_KILLPRIV_V2,
    ].reduce(0) { $0 | UInt32(bitPattern: $1) }

    /// Answers until the end of the mount.
    ///
    /// - Parameter whenReady: Called when there are threads that answer.
    func run(_ whenReady: () -> Void) throws(KeychainError) {
        for _ in 0..<4 { try startThread() }
        whenReady()
        end.withLock { while threads.withLock({ $0.all > 0 }) { end.wait() } }
    }

    private func startThread() throws(KeychainError) {
        threads.withLock { $0.all += 1 }
        do throws(KeychainError) {
            try WorkerThread.start("keychain mount", stackBytes: 1 << 20) { [self] in
                answerAll()
                end.withLock {
                    threads.withLock { $0.all -= 1 }
                    end.broadcast()
                }
            }
        } catch {
            threads.withLock { $0.all -= 1 }
            throw error
        }
    }

    private func answerAll() {
        ckeychain_limit_lock_waits(Self.longestLockWait)
        let memory = Memory()
        var isQuick = false
        while true {
            threads.withLock { threads in
                threads.waiting += 1
                if isQuick { threads.quick -= 1 }
            }
            let received = device.receive(into: memory.request)
            let bytes = UnsafeRawBufferPointer(rebasing: memory.request[..<(received ?? 0)])
            let request = Request(bytes)
            isQuick = request.map { Self.quick.contains($0.header.opcode) } ?? false
            let mustStart = threads.withLock { threads in
                threads.waiting -= 1
                if isQuick { threads.quick += 1 }
                return threads.waiting == 0 && threads.quick < Self.mostQuick && threads.all < Self.mostThreads
            }
            guard received != nil else { return }
            // If the user may have no more threads, those that there are do the work.
            if mustStart { try? startThread() }
            if let request { answer(request, bytes, memory) }
        }
    }

    private func answer(_ request: Request, _ bytes: UnsafeRawBufferPointer, _ memory: Memory) {
        var request = request
        var reply = Reply(in: memory.reply)
        var refusal: Refusal?
        var isAwaited = true
        do throws(Refusal) {
            isAwaited = try volume.answer(&request, &reply)
        } catch {
            refusal = error
        }
        let count = reply.finished(request.header.unique, refusal)
        if isAwaited { device.send(count) }
        if [FUSE_READ.rawValue, FUSE_WRITE.rawValue].contains(request.header.opcode) {
            memory.erase(request: bytes.count)
        }
    }

    /// The memory of one thread. It is erased when content was in it, of any class: another program may change a class.
    private final class Memory {
        let request = UnsafeMutableRawBufferPointer.allocate(byteCount: Device.bufferSize, alignment: 4096)
        let reply = UnsafeMutableRawBufferPointer.allocate(byteCount: Device.bufferSize, alignment: 4096)

        /// A read that failed may have left content behind the answer, so all the memory of the answer that a read of this
        /// size could reach is erased.
        func erase(request count: Int) {
            var arguments = Request(UnsafeRawBufferPointer(rebasing: request[..<count]))
            let reads = arguments?.header.opcode == FUSE_READ.rawValue
            let wanted = reads ? Int((try? arguments?.take(fuse_read_in.self))?.size ?? 0) : 0
            ckeychain_erase(reply.baseAddress, min(reply.count, Reply.headerSize + wanted))
            ckeychain_erase(request.baseAddress, count)
        }

        deinit {
            request.deallocate()
            reply.deallocate()
        }
    }
}
