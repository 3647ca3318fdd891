import Foundation
import KeychainModel
import KeychainTestSupport
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
