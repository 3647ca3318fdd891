import CKeychainLinux
import CKeychainTestSupport
import Foundation
import KeychainBus
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import KeychainWire
import Testing

@testable import KeychainDaemon

@Suite struct PeerTests {
    /// Runs a program to its end.
    ///
    /// - Returns: its exit status and what it wrote.
    private func run(_ words: [String], output: FileHandle? = nil) throws -> (status: Int32, output: Data) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        if let output { process.standardOutput = output } else { process.standardOutput = pipe }
        try process.run()
        let data = output == nil ? pipe.fileHandleForReading.readDataToEndOfFile() : Data()
        process.waitUntilExit()
        return (process.terminationStatus, data)
    }

    @Test("Another user is refused, and told so", .enabled(if: geteuid() == 0))
    func otherUser() throws {
        try withServer(FakeEngine()) { server throws in
            // Everybody may connect here; a daemon's own socket is closed to others already.
            chmod(URL(fileURLWithPath: server.path).deletingLastPathComponent().path, 0o755)
            chmod(server.path, 0o666)
            let script = """
                import socket, sys
                client = socket.socket(socket.AF_UNIX)
                client.connect(sys.argv[1])
                sys.stdout.buffer.write(client.makefile("rb").read())
                """
            let outcome = try run([
                "setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", script, server.path,
            ])
            #expect(outcome.status == 0)
            let message = try DaemonMessage(message: Data(outcome.output.dropFirst(WireHeader.byteCount)), tail: nil)
            guard case .goodbye(let goodbye) = message else {
                Issue.record("another message")
                return
            }
            #expect(goodbye.reason == .refused)
            #expect(server.hasLogged("uid"))
            #expect(server.log.value.contains { $0.contains("65534") })
            #expect(try server.serves())
        }
    }

    @Test("A connection that was handed to another process is of no use to it", arguments: [false, true])
    func handedOn(isGreeted: Bool) throws {
        let asked = Observed(false)
        let engine = FakeEngine { _, _ throws(KeychainError) in
            asked.update { $0 = true }
            return .done
        }
        try withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("frame")
            try withServer(engine) { server throws in
                let client = isGreeted ? try server.connect() : try TestClient(server.path)
                let message: ClientMessage =
                    isGreeted ? .request(id: 1, .find) : .hello(ClientHello(groups: ["G"], authority: .owner))
                try Data(TestClient.bytes(of: message)).write(to: file)
                // Its standard output is the connection.
                _ = try run(
                    ["cat", file.path], output: FileHandle(fileDescriptor: client.descriptor, closeOnDealloc: false))
                let goodbye = try client.goodbye()
                #expect(goodbye.reason == .refused)
                #expect(goodbye.lastRequest == 0)
                #expect(!asked.value)
            }
        }
    }

    @Test("A frame that another process ends is refused")
    func halfHandedOn() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("frame")
            try withServer(FakeEngine()) { server throws in
                let client = try server.connect()
                let bytes = try TestClient.bytes(of: .request(id: 1, .add(secret: .of("secret"))))
                try client.send(bytes: Array(bytes.prefix(20)))
                try Data(bytes.dropFirst(20)).write(to: file)
                _ = try run(
                    ["cat", file.path], output: FileHandle(fileDescriptor: client.descriptor, closeOnDealloc: false))
                #expect(try client.goodbye().reason == .refused)
            }
        }
    }

    // MARK: One end of a connection

    /// Two ends of a connection of this process with itself.
    private func connectedPair() throws -> (OpenDescriptor, OpenDescriptor) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        return (OpenDescriptor(ends[0]), OpenDescriptor(ends[1]))
    }

    private static let own = ckeychain_process(pid: getpid(), uid: geteuid(), gid: getegid())

    /// What becomes of a connection of this process over which somebody sends something; nil: it goes on.
    private func end(ofConnectionWith sender: ckeychain_sender) throws -> DaemonGoodbye.Reason? {
        let (socket, other) = try connectedPair()
        return try withExtendedLifetime(other) {
            let peer = try PeerIdentity(of: socket.number)
            do throws(ConnectionEnd) {
                try peer.require(sender)
                return nil
            } catch {
                guard case .goodbye(let reason, _) = error else { throw error }
                return reason
            }
        }
    }

    @Test("The process that made a connection may use it")
    func sameSender() throws {
        #expect(try end(ofConnectionWith: ckeychain_sender(process: Self.own, is_known: 1, sent_more: 0)) == nil)
    }

    @Test("What another process sends over a connection is refused")
    func otherProcess() throws {
        var process = Self.own
        process.pid += 1
        #expect(try end(ofConnectionWith: ckeychain_sender(process: process, is_known: 1, sent_more: 0)) == .refused)
    }

    @Test("What a process sends that has become another user's since is refused")
    func changedUser() throws {
        var process = Self.own
        process.uid += 1
        #expect(try end(ofConnectionWith: ckeychain_sender(process: process, is_known: 1, sent_more: 0)) == .refused)
    }

    @Test("What the kernel names no sender of is refused")
    func unknownSender() throws {
        #expect(try end(ofConnectionWith: ckeychain_sender(process: Self.own, is_known: 0, sent_more: 0)) == .refused)
    }

    @Test("A message that brings descriptors ends the connection")
    func passedDescriptors() throws {
        #expect(try end(ofConnectionWith: ckeychain_sender(process: Self.own, is_known: 1, sent_more: 1)) == .malformed)
    }

    @Test("Descriptors that come with bytes are told of, and closed")
    func closedDescriptors() throws {
        let (socket, other) = try connectedPair()
        var yes: Int32 = 1
        try #require(setsockopt(socket.number, SOL_SOCKET, SO_PASSCRED, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0)
        let pipe = Pipe()
        let sent = pipe.fileHandleForReading.fileDescriptor
        try #require(ckeychain_test_send_descriptors(other.number, [7], 1, sent, 50) == 0)
        var byte: UInt8 = 0
        var count = 0
        var sender = ckeychain_sender()
        #expect(ckeychain_receive(socket.number, &byte, 1, &count, &sender) == 0)
        #expect(byte == 7 && count == 1)
        #expect(sender.is_known == 1 && sender.process.pid == getpid())
        #expect(sender.sent_more == 1)
        #expect(try descriptorCount(ofPipe: sent) == 2, "both ends of the pipe, and no copy")
    }

    @Test("What a process has sent that is no more is not taken: its number may mean another one by now")
    func ended() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("socket").path
            var number: Int32 = -1
            try #require(ckeychain_listen(path, &number) == 0)
            let listener = OpenDescriptor(number)
            try #require(ckeychain_want_senders(listener.number) == 0)
            let frame = try TestClient.bytes(of: .hello(ClientHello(groups: ["G"], authority: .owner)))
            let script = """
                import socket, sys
                client = socket.socket(socket.AF_UNIX)
                client.connect(sys.argv[1])
                client.sendall(bytes(map(int, sys.argv[2:])))
                sys.stdin.read()
                """
            let (process, input) = (Process(), Pipe())
            process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            process.arguments = ["-c", script, path] + frame.map { "\($0)" }
            process.standardInput = input
            try process.run()
            var waiting = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
            try #require(poll(&waiting, 1, 60_000) == 1)
            try #require(ckeychain_accept(listener.number, &number) == 0)
            let socket = OpenDescriptor(number)
            let peer = try PeerIdentity(of: socket.number)
            let receiver = try FrameReceiver(socket, peer, Limits(), MemoryBudget(Limits()), Activity())
            try input.fileHandleForWriting.close()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            do throws(ConnectionEnd) {
                _ = try receiver.next()
                Issue.record("it was taken")
            } catch {
                guard case .gone = error else { throw error }
            }
        }
    }

    // MARK: Before Linux 6.5

    @Test("A process that was started after a connection was accepted did not make it")
    func younger() throws {
        let start = try #require(ProcessStart.time(of: getpid()))
        _ = try PeerIdentity.hold(getpid(), startedBefore: start)
        do throws(ConnectionEnd) {
            _ = try PeerIdentity.hold(getpid(), startedBefore: start - 0.01)
            Issue.record("it was held")
        } catch {
            guard case .gone = error else { throw error }
        }
    }

    @Test("The time at which a process was started is known where the kernel does not hold it fast")
    func start() throws {
        let before = ProcessStart.now
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sleep")
        process.arguments = ["60"]
        try process.run()
        defer { process.terminate() }
        let start = try #require(ProcessStart.time(of: process.processIdentifier))
        // In hundredths of a second.
        #expect((before - 0.02...ProcessStart.now).contains(start))
        let own = try #require(ProcessStart.time(of: getpid()))
        #expect(own <= start)
        #expect(ProcessStart.time(of: 0) == nil)
    }
}
