internal import Glibc

/// The client's end of the Assuan protocol: a command at a time, and its answer.
///
/// Every line is read into memory that is erased, since it may hold a secret; only its words besides data become a
/// string.
final class AssuanConnection {
    private let socket: Int32
    private let wait: Wait
    private let incoming = ErasedBuffer(capacity: AssuanText.lineLimit + 2)

    /// More of them before an answer are not meant to be read.
    private static let lineCountLimit = 1000

    /// - Parameter socket: A stream socket, which stays the caller's.
    init(_ socket: Int32, _ wait: Wait) {
        self.socket = socket
        self.wait = wait
    }

    /// Sends a command and waits for its answer.
    ///
    /// - Parameter data: Takes the program's data; nil: the program has none to send.
    func command(
        _ line: String, into data: ErasedBuffer? = nil, until deadline: ContinuousClock.Instant
    ) throws(AssuanFailure) -> AssuanReply {
        try send(line, until: deadline)
        return try reply(into: data, until: deadline)
    }

    /// Waits for an answer: to a command, or the greeting.
    func reply(
        into data: ErasedBuffer? = nil, until deadline: ContinuousClock.Instant
    ) throws(AssuanFailure) -> AssuanReply {
        var status: Set<String> = []
        for _ in 0..<Self.lineCountLimit {
            let end = try awaitLine(until: deadline)
            let line = UnsafeRawBufferPointer(rebasing: incoming.bytes[..<end])
            defer { incoming.removeFirst(end + 1) }
            switch Self.keyword(of: line) {
            case "OK": return .done(status: status)
            case "ERR": return try Self.refusal(line)
            case "S": status.insert(Self.words(of: line).dropFirst().first ?? "")
            case "#": continue
            case "D":
                guard let data else { throw .garbage("data that nothing asked for") }
                try AssuanText.unescape(line[2...], into: data)
            default: throw .garbage("a line that is no answer")
            }
        }
        throw .garbage("no end of lines")
    }

    /// Sends a line without waiting for its answer.
    func send(_ line: String, until deadline: ContinuousClock.Instant) throws(AssuanFailure) {
        var bytes = Array((line + "\n").utf8)[...]
        precondition(bytes.count <= AssuanText.lineLimit, "the texts of a dialog are cut to fit a line")
        while !bytes.isEmpty {
            do throws(WaitFailure) { try wait.for(socket, POLLOUT, until: deadline) } catch {
                throw AssuanFailure(error)
            }
            // Nothing of the process's is changed for a program that is gone: no SIGPIPE comes of it.
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let count = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, flags) }
            if count >= 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EPIPE || errno == ECONNRESET {
                throw .closed
            } else if errno != EINTR && errno != EAGAIN {
                throw .system(errno)
            }
        }
    }

    // MARK: - Lines

    /// - Returns: where the first line ends.
    private func awaitLine(until deadline: ContinuousClock.Instant) throws(AssuanFailure) -> Int {
        while true {
            if let end = incoming.bytes.firstIndex(of: UInt8(ascii: "\n")) { return end }
            if incoming.isFull { throw .garbage("a line without an end") }
            do throws(WaitFailure) { try wait.for(socket, POLLIN, until: deadline) } catch {
                throw AssuanFailure(error)
            }
            let room = incoming.room
            let count = recv(socket, room.baseAddress, room.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                incoming.advance(by: count)
            } else if count == 0 || errno == ECONNRESET {
                throw .closed
            } else if errno != EINTR && errno != EAGAIN {
                throw .system(errno)
            }
        }
    }

    /// The first word, as far as it is one of the protocol's; a line of data has a blank after it in any case.
    private static func keyword(of line: UnsafeRawBufferPointer) -> String? {
        for keyword in ["OK", "ERR", "S", "D", "#"] where line.starts(with: keyword.utf8) {
            if keyword == "#" || line.dropFirst(keyword.utf8.count).first == UInt8(ascii: " ") { return keyword }
            if keyword == "OK" && line.count == 2 { return keyword }
        }
        return nil
    }

    private static func words(of line: UnsafeRawBufferPointer) -> [String] {
        String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 2).map(String.init)
    }

    private static func refusal(_ line: UnsafeRawBufferPointer) throws(AssuanFailure) -> AssuanReply {
        let words = words(of: line)
        guard words.count > 1, let number = UInt32(words[1]) else { throw .garbage("an error without a number") }
        let text = words.count > 2 ? HarmlessText.make(words[2], limit: 200) : "error \(number)"
        return .refused(AssuanCode(number), text)
    }
}
