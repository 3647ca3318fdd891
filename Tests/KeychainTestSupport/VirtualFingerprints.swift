internal import Foundation
internal import Synchronization

/// A fingerprint reader of a test's own, and a person at it: the real fprintd with libfprint's virtual reader, on a bus of
/// its own. Tests/Fingerprints/fingerprints.py runs it all, and ends it all when it or the tests end.
package final class VirtualFingerprints: Sendable {
    /// How fprintd is found.
    package enum Service: String, Sendable {
        case running
        /// It starts when somebody asks for it.
        case onDemand = "on-demand"
        case withoutReader = "without-reader"
        case missing
    }

    /// Why the reader cannot see well enough.
    package enum Retry: String, Sendable, CaseIterable {
        case general, short, centre, remove
    }

    /// What polkit allows or does not.
    package enum Action: String, Sendable {
        case verify = "net.reactivated.fprint.device.verify"
        case enrol = "net.reactivated.fprint.device.enroll"
        case setUsername = "net.reactivated.fprint.device.setusername"
    }

    package struct Failure: Error {
        package var text: String
    }

    /// In place of the system's bus.
    package let busAddress: String
    private let directory: URL
    private let process: Process
    private let conversation: Mutex<Conversation>

    package init(_ service: Service = .running) throws {
        directory = try makeTemporaryDirectory()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [Self.script.path, directory.path, service.rawValue]
        var conversation = Conversation()
        process.standardInput = conversation.orders
        process.standardOutput = conversation.answers
        do {
            try process.run()
            busAddress = try conversation.nextAnswer()
        } catch {
            if process.isRunning { process.terminate() }
            try FileManager.default.removeItem(at: directory)
            throw error
        }
        self.process = process
        self.conversation = Mutex(conversation)
    }

    deinit { stop() }

    /// Ends everything. It may be called more than once.
    package func stop() {
        guard process.isRunning else { return }
        // Whatever keeps it from ending by itself: what it started ends with it.
        do { try order("stop") } catch { process.terminate() }
        process.waitUntilExit()
        // What is left behind, if anything, is in the directory for temporary files.
        try? FileManager.default.removeItem(at: directory)
    }

    // MARK: The person

    /// - Parameters:
    ///   - finger: As fprintd calls it, such as "left-thumb".
    ///   - seen: What the reader sees of it. A word; no two fingers have the same.
    package func enrol(_ finger: String = "right-index-finger", seen: String) throws {
        try order("enrol \(finger) \(seen)")
    }

    package func delete(_ finger: String) throws { try order("delete \(finger)") }

    /// Has the person touch the reader as soon as somebody waits for that, and returns at once. What is ordered to happen
    /// at the reader next happens when a finger is waited for again.
    package func touch(_ seen: String) throws { try order("touch \(seen)") }

    /// Has the person touch it so that it cannot see well enough, as ``touch(_:)`` does.
    package func retry(_ retry: Retry) throws { try order("retry \(retry.rawValue)") }

    // MARK: The machine

    /// Has the reader fail when a finger is waited for.
    package func breakReader() throws { try order("break") }

    /// Has the reader unplugged when a finger is waited for.
    package func unplug() throws { try order("unplug") }

    /// Makes the reader one that is touched; at first a finger is drawn over it.
    package func makePressed() throws { try order("scan-type press") }

    package func allow(_ actions: Action...) throws {
        try order("allow " + actions.map(\.rawValue).joined(separator: " "))
    }

    package func killService() throws { try order("kill") }

    // MARK: Other programs

    /// Has another program use the reader. It fails if somebody does.
    package func claim() throws { try order("claim") }
    package func release() throws { try order("release") }

    /// Has another program send what fprintd would, to everybody and to each by name.
    package func fake(_ status: String) throws { try order("fake \(status)") }

    private func order(_ text: String) throws {
        let answer = try conversation.withLock { try $0.order(text) }
        if answer != "done" { throw Failure(text: "\(text): \(answer)") }
    }

    private static let script = Repository.file("Tests/Fingerprints/fingerprints.py")
}

/// Lines to a program and from it.
struct Conversation {
    /// How long a line may be in coming, on a machine with much else to do.
    private static let patience: Int32 = 60_000

    let orders = Pipe()
    let answers = Pipe()
    private var rest = Data()

    mutating func order(_ text: String) throws -> String {
        try orders.fileHandleForWriting.write(contentsOf: Data((text + "\n").utf8))
        return try nextAnswer()
    }

    mutating func nextAnswer() throws -> String {
        let handle = answers.fileHandleForReading
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[(end + 1)...]) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            var waiting = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, Self.patience) > 0 else {
                throw VirtualFingerprints.Failure(text: "fingerprints.py does not answer")
            }
            let more = handle.availableData
            if more.isEmpty { throw VirtualFingerprints.Failure(text: "fingerprints.py has ended") }
            rest += more
        }
    }
}
