import Foundation
import Glibc
import KeychainClient
import KeychainModel
import KeychainTestSupport
import KeychainWire
import SwiftKeychain
import Synchronization

/// Many clients at once, among them some that misbehave.
struct LoadRun {
    /// A daemon takes 64 connections from one process.
    private static let clientsPerProcess = 20
    let program: String
    let clients: Int
    let calls: Int
    /// How many further processes of clients are killed in the midst of their work.
    let kills: Int
    let seed: UInt64

    func run() throws -> Bool {
        try withTemporaryDirectory { directory in
            let daemon = DaemonProcess(URL(fileURLWithPath: program), in: directory)
            try daemon.start()
            defer { daemon.kill() }
            return try load(daemon)
        }
    }

    private func load(_ daemon: DaemonProcess) throws -> Bool {
        let before = try daemon.size
        let endings = try Nuisance.allCases.map { try $0.start(at: daemon.socket) }
        let start = Date()
        let processes = try (0..<(clients + Self.clientsPerProcess - 1) / Self.clientsPerProcess).map { number in
            let threads = min(Self.clientsPerProcess, clients - number * Self.clientsPerProcess)
            return try ClientProcess(
                daemon.socket, threads: threads, calls: calls, seed: seed &+ UInt64(number) * 1_000)
        }
        for number in 0..<kills {
            let victim = try ClientProcess(
                daemon.socket, threads: 4, calls: .max, seed: seed &+ 100_000 &+ UInt64(number))
            usleep(UInt32.random(in: 1_000...200_000))
            victim.kill()
        }
        let reports = try processes.flatMap { try $0.reports() }
        let seconds = Date().timeIntervalSince(start)
        for end in endings { end() }
        var problems = reports.flatMap(\.surprises)
        problems += try missing(reports, at: daemon.socket)
        let count = reports.reduce(0) { $0 + $1.count }
        if count != clients * calls { problems.append("\(count) answers to \(clients * calls) calls") }
        let after = try settled(daemon, since: before)
        if after.hasMoreDescriptors(than: before) {
            problems.append("\(after.descriptorText) descriptors, \(before.descriptorText) before")
        }
        if after.threads > before.threads + 4 { problems.append("\(after.threads) threads, \(before.threads) before") }
        if daemon.stop() != 0 { problems.append("the daemon did not end with 0") }
        for problem in problems.prefix(20) { say("FAILED load, seed \(seed): \(problem)") }
        let longest = reports.map(\.longest).max() ?? 0
        say(
            "load clients=\(clients) calls=\(count) killed=\(kills) seconds=\(text(seconds)) longest=\(text(longest)) "
                + "resident=\(before.residentKilobytes)..\(after.residentKilobytes)kB "
                + "descriptors=\(before.descriptorText)..\(after.descriptorText) threads=\(before.threads)..\(after.threads) "
                + "failed=\(problems.count)")
        return problems.isEmpty
    }

    private func text(_ seconds: Double) -> String { String(format: "%.1f", seconds) }

    /// What was acknowledged and is not there, by a look from outside.
    private func missing(_ reports: [MixedWork.Report], at socket: String) throws -> [String] {
        let carrier = SocketCarrier(socketPath: socket)
        var problems: [String] = []
        for (account, secret) in reports.flatMap(\.own) {
            var query = ItemQuery(.genericPassword)
            query.attributes = [.account: .text(account)]
            let request = Request.find(FindRequest(query, wantsSecrets: true))
            guard case .found(let items)? = try? carrier.handle(request, from: .probe),
                items.first?.secret?.copyData() == Data(secret.utf8)
            else {
                problems.append("\(account) is not what was acknowledged last")
                continue
            }
        }
        return problems
    }

    /// Its size when it has noticed that its clients are gone.
    private func settled(_ daemon: DaemonProcess, since before: DaemonProcess.Size) throws -> DaemonProcess.Size {
        for _ in 0..<3_000 {
            let size = try daemon.size
            if !size.hasMoreDescriptors(than: before) { return size }
            usleep(20_000)
        }
        return try daemon.size
    }
}

/// A process of clients, whose output is a file: a pipe that nobody empties would stop it.
private final class ClientProcess {
    private let process = Process()
    private let output: URL

    init(_ socket: String, threads: Int, calls: Int, seed: UInt64) throws {
        output = FileManager.default.temporaryDirectory.appendingPathComponent("keychain-work-\(UUID().uuidString)")
        try Data().write(to: output)
        process.executableURL = HelperProcess.executable
        process.arguments = ["clients", socket, "\(threads)", "\(calls)", "\(seed)"]
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
    }

    deinit { try? FileManager.default.removeItem(at: output) }

    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func reports() throws -> [MixedWork.Report] {
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw HelperFailure("a process of clients ended with \(process.terminationStatus)")
        }
        return try JSONDecoder().decode([MixedWork.Report].self, from: Data(contentsOf: output))
    }
}

/// Clients that nobody would want.
private enum Nuisance: CaseIterable {
    /// Asks without end and reads nothing.
    case neverReads
    /// Sends one byte of a frame now and then.
    case slow
    /// Sends random bytes, again and again.
    case nonsense

    /// - Returns: what ends it.
    func start(at socket: String) throws -> () -> Void {
        let first = try connection(socket)
        // What it has open, which its thread alone closes; nil: it is to end.
        let current = Mutex<Int32?>(first)
        Thread.detachNewThread {
            var descriptor = first
            defer {
                current.withLock { current in
                    current = nil
                    close(descriptor)
                }
            }
            var generator = SeededGenerator()
            for number in sequence(first: UInt64(0), next: { $0 + 1 }) {
                let bytes = self.bytes(number, &generator)
                let sent = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                if self == .slow { usleep(100_000) }
                if sent > 0 { continue }
                guard self == .nonsense, let next = try? self.connection(socket) else { return }
                let goesOn = current.withLock { current in
                    close(descriptor)
                    descriptor = next
                    current = current.map { _ in next }
                    return current != nil
                }
                guard goesOn else { return }
                usleep(5_000)
            }
        }
        return {
            current.withLock { current in
                if let descriptor = current { shutdown(descriptor, Int32(SHUT_RDWR)) }
                current = nil
            }
        }
    }

    /// What is sent next.
    private func bytes(_ number: UInt64, _ generator: inout SeededGenerator) -> Data {
        switch self {
        case .neverReads:
            if number == 0 { return Self.bytes(of: .hello(ClientHello(groups: ["G"], authority: .groups))) }
            var query = ItemQuery(.genericPassword)
            query.limit = .all
            return Self.bytes(of: .request(id: number, .find(FindRequest(query, wantsSecrets: true))))
        case .slow: return Data([0])
        case .nonsense: return Data(generator.bytes(64))
        }
    }

    private static func bytes(of message: ClientMessage) -> Data {
        // The smallest messages there are.
        let frame = try! message.frame()
        var bytes = Data(count: WireHeader.byteCount)
        bytes.withUnsafeMutableBytes { frame.header.write(to: $0) }
        return bytes + frame.message
    }

    private func connection(_ path: String) throws -> Int32 {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        guard result == 0 else { throw HelperFailure("no connection to \(path)") }
        return descriptor
    }
}

extension DaemonProcess.Size {
    /// What a daemon keeps for the next calls, however many there were: eight readers of the database and a writer, of up to
    /// three descriptors each.
    private static let keptDescriptors = 32

    fileprivate func hasMoreDescriptors(than before: Self) -> Bool {
        guard let descriptors, let former = before.descriptors else { return false }
        return descriptors > former + Self.keptDescriptors
    }

    fileprivate var descriptorText: String { descriptors.map(String.init) ?? "?" }
}
