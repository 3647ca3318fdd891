import Foundation
import KeychainTestSupport
import Testing

/// How long a test waits for something that should happen soon, on a machine with much else to do.
private let patience: TimeInterval = 60

struct TookTooLong: Error {
    var waitingFor: String
}

/// Reads lines from a program, none of which may be long in coming.
final class LineReader {
    private let handle: FileHandle
    private var rest = Data()

    init(_ handle: FileHandle) { self.handle = handle }

    func next() throws -> String {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[(end + 1)...]) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            var waiting = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, Int32(patience * 1000)) > 0 else { throw TookTooLong(waitingFor: "a line") }
            let more = handle.availableData
            if more.isEmpty { throw CocoaError(.fileReadUnknown) }
            rest += more
        }
    }

    /// Reads on to a line that contains a text.
    func skip(to text: String) throws {
        while try !next().contains(text) {}
    }

    func remaining() throws -> String {
        String(decoding: rest + (try handle.readToEnd() ?? Data()), as: UTF8.self)
    }
}

extension Process {
    /// Sends a signal, unless it has ended: its number may be another's by then.
    func kill(with signal: Int32) {
        if isRunning { Foundation.kill(processIdentifier, signal) }
    }

    /// Waits for the end, and makes it if it does not come.
    func finish() throws -> Int32 {
        let hasEnded = DispatchSemaphore(value: 0)
        terminationHandler = { _ in hasEnded.signal() }
        // It may have ended before there was a handler.
        if isRunning, hasEnded.wait(timeout: .now() + patience) == .timedOut {
            kill(with: SIGKILL)
            throw TookTooLong(waitingFor: "the end of a process")
        }
        waitUntilExit()
        return terminationStatus
    }
}

/// Variables with which a program finds another socket where the system's bus has its own: no option and no other
/// variable does that. Needs clang, which comes with Swift.
///
/// - Parameter directory: Where the library goes that the program loads for it.
func replacingSystemBus(with socket: URL, in directory: URL) throws -> [String: String] {
    let library = directory.appendingPathComponent("system-bus.so")
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments = [
        "clang", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library.path,
        Repository.file("Tests/Logind/system-bus.c").path,
    ]
    try compiler.run()
    compiler.waitUntilExit()
    try #require(compiler.terminationStatus == 0, "system-bus.c cannot be compiled")
    return ["LD_PRELOAD": library.path, "TEST_SYSTEM_BUS": socket.path]
}

/// A message bus of a test's own.
final class TestBus {
    private let daemon = Process()
    let address: String
    /// Variables of a program that is to take it for the system's.
    let asSystemBus: [String: String]

    init(in directory: URL) throws {
        let configuration = directory.appendingPathComponent("bus.conf")
        let socket = directory.appendingPathComponent("bus")
        asSystemBus = try replacingSystemBus(with: socket, in: directory)
        try Self.configuration(socket: socket.path)
            .write(to: configuration, atomically: true, encoding: .utf8)
        let output = Pipe()
        daemon.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        daemon.arguments = ["--nofork", "--print-address=1", "--config-file=\(configuration.path)"]
        daemon.standardOutput = output
        // Where it may not raise its limit of open files it says so, which no test needs to show.
        daemon.standardError = FileHandle.nullDevice
        try daemon.run()
        address = try LineReader(output.fileHandleForReading).next()
    }

    deinit { stop() }

    func stop() { daemon.kill(with: SIGKILL) }

    /// Everybody may own and send everything: what the system's bus forbids is not what is relied on.
    private static func configuration(socket: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
            "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <listen>unix:path=\(socket)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow user="*"/>
            <allow own="*"/>
            <allow send_destination="*"/>
            <allow receive_sender="*"/>
          </policy>
        </busconfig>
        """
    }
}

/// A stand-in for systemd-logind on a bus of its own. Tests/Logind/logind.py lists the orders it takes.
final class TestLogind: @unchecked Sendable {  // what varies is behind the lock
    let bus: TestBus
    private let program = Process()
    private let orders = Pipe()
    private let answers: LineReader
    private let lock = NSLock()

    init(_ bus: TestBus) throws {
        self.bus = bus
        let output = Pipe()
        answers = LineReader(output.fileHandleForReading)
        program.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        program.arguments = [Self.script.path, bus.address]
        program.standardInput = orders
        program.standardOutput = output
        try program.run()
        _ = try answers.next()
    }

    deinit { stop() }

    func stop() { program.kill(with: SIGKILL) }

    /// Has it do something, and returns what it says when that is done.
    @discardableResult
    func order(_ text: String) throws -> String {
        try lock.withLock {
            try orders.fileHandleForWriting.write(contentsOf: Data((text + "\n").utf8))
            return try answers.next()
        }
    }

    private static let script = Repository.file("Tests/Logind/logind.py")
}

/// Runs `body` with a logind on a bus of its own.
func withLogind(_ body: (TestLogind) throws -> Void) throws {
    try withTemporaryDirectory { directory in
        let bus = try TestBus(in: directory)
        defer { bus.stop() }
        let logind = try TestLogind(bus)
        defer { logind.stop() }
        try body(logind)
    }
}

/// What happened, in its order, for tests that wait for it.
final class Journal: @unchecked Sendable {  // what varies is behind the condition
    private let condition = NSCondition()
    private var written: [String] = []

    var entries: [String] { condition.withLock { written } }

    func write(_ entry: String) {
        condition.withLock {
            written.append(entry)
            condition.broadcast()
        }
    }

    /// Waits until an entry has been written as often as this.
    func wait(for entry: String, count: Int = 1) throws {
        try wait(until: "“\(entry)”") { $0.count(where: { $0 == entry }) >= count }
    }

    func wait(until what: String, _ isTrue: ([String]) -> Bool) throws {
        try condition.withLock {
            let deadline = Date(timeIntervalSinceNow: patience)
            while !isTrue(written) {
                guard condition.wait(until: deadline) else { throw TookTooLong(waitingFor: "\(what) after \(written)") }
            }
        }
    }
}
