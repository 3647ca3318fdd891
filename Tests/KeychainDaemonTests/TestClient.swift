import CKeychainLinux
import Foundation
import KeychainModel
import KeychainWire

/// A program at the other end of a daemon's socket, which says what a test wants it to.
final class TestClient {
    let descriptor: Int32
    private var lastRequest: UInt64 = 0
    /// That of the welcome, until a message has repeated it.
    private var nonce = Data()
    private(set) var welcome: DaemonWelcome?
    private var received: [UInt8] = []

    struct Closed: Error {}
    struct Silence: Error {}
    struct Unexpected: Error {
        var message: DaemonMessage
    }

    /// Connects and says nothing yet.
    init(_ path: String, isForLock: Bool = false) throws {
        var number: Int32 = -1
        let failure =
            isForLock
            ? ckeychain_connect_for_lock(path, 10_000, &number) : ckeychain_connect(path, 10_000, &number)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        descriptor = number
    }

    deinit { close(descriptor) }

    /// Connects and says hello.
    convenience init(_ path: String, groups: [String], authority: Caller.Authority = .groups) throws {
        try self.init(path)
        try send(.hello(ClientHello(groups: groups, authority: authority)))
        guard case .welcome(let welcome) = try receive() else { throw Closed() }
        self.welcome = welcome
        nonce = welcome.nonce
    }

    // MARK: Messages

    func send(_ message: ClientMessage) throws {
        try send(bytes: Self.bytes(of: message.frame(nonce: nonce)))
        nonce = Data()
    }

    /// A whole frame.
    static func bytes(of message: ClientMessage) throws -> [UInt8] { try bytes(of: message.frame()) }

    static func bytes(of frame: WireFrame) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: WireHeader.byteCount)
        bytes.withUnsafeMutableBytes { frame.header.write(to: $0) }
        bytes += frame.message
        for secret in frame.secrets { bytes += secret.copyData() }
        return bytes
    }

    func send(bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 {
                if errno == EINTR { continue }
                throw Closed()
            }
            rest = rest.dropFirst(count)
        }
    }

    /// - Throws: ``Closed`` if the daemon closed the connection, ``Silence`` if nothing comes for a long time.
    func receive(within seconds: Double = 60) throws -> DaemonMessage {
        let header = WireHeader(try receive(count: WireHeader.byteCount, seconds))
        let message = Data(try receive(count: header.messageCount, seconds))
        let tail = try receive(count: header.tailCount, seconds)
        return try DaemonMessage(
            message: message, tail: tail.isEmpty ? nil : tail.withUnsafeBytes { SecretBytes(copying: $0) })
    }

    private func receive(count: Int, _ seconds: Double) throws -> [UInt8] {
        while received.count < count {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, Int32(seconds * 1000)) > 0 else { throw Silence() }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let got = recv(descriptor, &buffer, buffer.count, 0)
            guard got > 0 else { throw Closed() }
            received += buffer.prefix(got)
        }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    // MARK: Requests

    @discardableResult
    func begin(_ request: Request) throws -> UInt64 {
        lastRequest += 1
        try send(.request(id: lastRequest, request))
        return lastRequest
    }

    /// The whole answer to a request that was begun.
    ///
    /// - Throws: the keychain's error, or ``Unexpected``.
    func answer(to id: UInt64) throws -> Reply {
        var whole: Reply?
        while true {
            let message = try receive()
            switch message {
            case .reply(id, let part, let isLast):
                if whole == nil { whole = part } else { try whole?.append(part) }
                if isLast, let whole { return whole }
            case .failure(id, let error): throw error
            default: throw Unexpected(message: message)
            }
        }
    }

    @discardableResult
    func ask(_ request: Request) throws -> Reply { try answer(to: try begin(request)) }

    func subscribe(delaysLocks: Bool = false) throws {
        lastRequest += 1
        try send(.subscribe(id: lastRequest, delaysLocks: delaysLocks))
    }

    func nextChange(within seconds: Double = 60) throws -> StoreChange {
        let message = try receive(within: seconds)
        guard case .event(lastRequest, let change) = message else { throw Unexpected(message: message) }
        return change
    }

    /// What the daemon says last, whatever it says before; nothing comes after it.
    func goodbye() throws -> DaemonGoodbye {
        while true {
            guard case .goodbye(let goodbye) = try receive() else { continue }
            do {
                let more = try receive()
                throw Unexpected(message: more)
            } catch is Closed {
                return goodbye
            }
        }
    }
}

extension WireHeader {
    fileprivate init(_ bytes: [UInt8]) { self = bytes.withUnsafeBytes { WireHeader($0) } }
}
