internal import Glibc

/// The output of a program on its way, with secrets masked.
final class MaskedStream {
    /// The output of this program that gets the masked bytes.
    private let target: Int32
    /// The end that the program writes to; nil: only the program has it now.
    private(set) var writeEnd: Int32?
    /// The end that is read; nil: the output has ended, or its reader has gone.
    private var readEnd: Int32?
    private let mask: OutputMask
    private let complain: (String) -> Void
    /// The masked bytes that are not written yet.
    private var waiting: [UInt8] = []
    private var room = [UInt8](repeating: 0, count: 64 << 10)

    init(_ target: Int32, _ table: PatternTable, _ complain: @escaping (String) -> Void) throws(ProgramFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0, ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
            throw ProgramFailure("make a pipe", errno)
        }
        self.target = target
        (readEnd, writeEnd) = (ends[0], ends[1])
        mask = OutputMask(table)
        self.complain = complain
    }

    deinit {
        room.withUnsafeMutableBytes { explicit_bzero($0.baseAddress!, $0.count) }  // never empty
        closeWriteEnd()
        if let readEnd { close(readEnd) }
    }

    /// Whether output to a descriptor is masked: to a file, a pipe or a socket. Output to a terminal is not.
    static func isMeant(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return [S_IFREG, S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }

    var hasChangedBinary: Bool { mask.hasChangedBinary }

    func closeWriteEnd() {
        if let writeEnd { close(writeEnd) }
        writeEnd = nil
    }

    var isDone: Bool { readEnd == nil && waiting.isEmpty }

    /// The descriptor to wait for; none if the stream is done.
    var poll: pollfd {
        if !waiting.isEmpty { return pollfd(fd: target, events: Int16(POLLOUT), revents: 0) }
        return pollfd(fd: readEnd ?? -1, events: Int16(POLLIN), revents: 0)
    }

    /// Goes on when the descriptor of ``poll`` is ready. All bytes are written before the next ones are read.
    func advance() { waiting.isEmpty ? fill() : drain() }

    private func fill() {
        guard let readEnd else { return }
        let count = room.withUnsafeMutableBytes { read(readEnd, $0.baseAddress, $0.count) }
        if count < 0 && (errno == EINTR || errno == EAGAIN) { return }
        if count > 0 {
            room.withUnsafeBytes { bytes in
                mask.add(UnsafeRawBufferPointer(rebasing: bytes[..<count])) { waiting.append(contentsOf: $0) }
            }
        } else {
            mask.end { waiting.append(contentsOf: $0) }
            closeReadEnd()
        }
    }

    /// A pipe that takes any bytes takes so many.
    private static let portion = 4096

    private func drain() {
        let count = waiting.withUnsafeBytes { write(target, $0.baseAddress, min($0.count, Self.portion)) }
        if count >= 0 {
            waiting.removeFirst(count)
        } else if errno != EINTR && errno != EAGAIN {
            // The program's next write fails, as if its reader had gone.
            if errno != EPIPE { complain("cannot write output: \(String(cString: strerror(errno)))") }
            waiting = []
            closeReadEnd()
        }
    }

    private func closeReadEnd() {
        if let readEnd { close(readEnd) }
        readEnd = nil
    }
}
