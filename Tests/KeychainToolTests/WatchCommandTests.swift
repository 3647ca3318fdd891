import Foundation
import KeychainTestSupport
import Testing

/// The real command, at work beside a test.
struct RunningWatch {
    let process = Process()
    /// What it says.
    let errors: LineReader

    init(_ tool: Tool, bus: TestBus, _ arguments: String..., environment: [String: String] = [:]) throws {
        let output = Pipe()
        errors = LineReader(output.fileHandleForReading)
        process.executableURL = Tool.executable
        process.arguments = ["watch"] + arguments
        process.environment = tool.environment.merging(bus.asSystemBus) { $1 }
            .merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardError = output
        try process.run()
    }

    func end(with signal: Int32) throws -> Int32 {
        process.kill(with: signal)
        return try process.finish()
    }
}

/// What a service manager listens on.
private final class NotificationSocket {
    private let descriptor: Int32
    let path: String

    init(in directory: URL) throws {
        path = directory.appendingPathComponent("notify").path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }

    func receive() throws -> String {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 60_000) > 0 else { throw TookTooLong(waitingFor: "a notification") }
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}

@Suite struct WatchCommandTests {
    @Test("A signal ends the command with 0, and it makes no store", arguments: [SIGTERM, SIGINT, SIGHUP])
    func signal(number: Int32) throws {
        try withTool { (tool) throws in
            try withLogind { logind in
                let watch = try RunningWatch(tool, bus: logind.bus)
                try watch.errors.skip(to: "there is nothing to lock: there is no keychain")
                try watch.errors.skip(to: "watching the sessions of this user")
                #expect(try watch.end(with: number) == 0)
                #expect(try watch.errors.remaining() == "keychainctl: asked to end\n")
                #expect(!FileManager.default.fileExists(atPath: tool.store.path))
            }
        }
    }

    @Test("A service manager is told when it is ready, and with --quiet nobody else is told anything")
    func readiness() throws {
        try withTool { (tool) throws in
            try withLogind { logind in
                let manager = try NotificationSocket(in: tool.home)
                let watch = try RunningWatch(
                    tool, bus: logind.bus, "--quiet", environment: ["NOTIFY_SOCKET": manager.path])
                #expect(try manager.receive() == "READY=1")
                #expect(try logind.order("inhibitors") == "1")
                #expect(try watch.end(with: SIGTERM) == 0)
                #expect(try watch.errors.remaining().isEmpty)
            }
        }
    }

    @Test("The end of the session ends the command with 0")
    func session() throws {
        try withTool { (tool) throws in
            try withLogind { logind in
                try logind.order("session c1 \(geteuid())")
                let watch = try RunningWatch(
                    tool, bus: logind.bus, environment: ["XDG_SESSION_ID": "c1"])
                try watch.errors.skip(to: "watching this session")
                try logind.order("remove c1")
                #expect(try watch.process.finish() == 0)
            }
        }
    }

    @Test("A bus that is lost ends the command with 1")
    func lostBus() throws {
        try withTool { (tool) throws in
            try withLogind { logind in
                let watch = try RunningWatch(tool, bus: logind.bus)
                try watch.errors.skip(to: "watching")
                logind.bus.stop()
                #expect(try watch.process.finish() == 1)
                #expect(try watch.errors.remaining().contains("systemd-logind is lost"))
            }
        }
    }

    @Test("Without libsystemd it ends with 53 and says what to install")
    func noLibrary() throws {
        try withTool { (tool) throws in
            // What is found first is taken, and this is no library.
            try Data("none".utf8).write(to: tool.home.appendingPathComponent("libsystemd.so.0"))
            let outcome = try tool.shell("LD_LIBRARY_PATH=\"$HOME\" \"$K\" watch")
            #expect(outcome.status == 53)
            #expect(outcome.errors.contains("libsystemd0"))
        }
    }

    @Test("Without a bus it ends with 53 and says what to install, though the environment names another bus")
    func noBus() throws {
        try withTool { (tool) throws in
            try withLogind { logind in
                var tool = tool
                tool.variables = try replacingSystemBus(with: tool.home.appendingPathComponent("none"), in: tool.home)
                tool.variables["DBUS_SYSTEM_BUS_ADDRESS"] = logind.bus.address
                let outcome = try tool.run("watch")
                #expect(outcome.status == 53)
                #expect(outcome.errors.contains("install and start dbus"))
            }
        }
    }

    @Test("Without logind it ends with 53 and says what to install")
    func noLogind() throws {
        try withTool { (tool) throws in
            var tool = tool
            let bus = try TestBus(in: tool.home)
            defer { bus.stop() }
            tool.variables = bus.asSystemBus
            let outcome = try tool.run("watch")
            #expect(outcome.status == 53)
            #expect(outcome.errors.contains("libpam-systemd"))
        }
    }
}
