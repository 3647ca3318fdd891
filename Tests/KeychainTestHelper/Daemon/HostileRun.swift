import CKeychainLinux
import Foundation
import Glibc
import KeychainClient
import KeychainModel
import KeychainTestSupport
import KeychainWire
import SwiftKeychain

/// How soon a daemon answers one process while others of the same user take all they can get.
struct HostileRun {
    /// Most of the places that there are.
    private static let connections = 400
    private static let mostConnectionsPerProcess = 40
    private static let passcode = "1234"
    /// For each hostile process, and large ones for all together.
    private static let itemsPerProcess = 20
    /// With a passcode being checked, which takes 128.
    private static let mostMegabytes = 400
    private static let largeItems = 100
    let program: String
    let kind: HostileClient
    let processes: Int
    /// How long the others go on, and how often each call is made at least.
    let seconds: Int
    let calls: Int

    func run() throws -> Bool {
        try withTemporaryDirectory { directory in
            let daemon = DaemonProcess(URL(fileURLWithPath: program), in: directory)
            try daemon.start()
            defer { daemon.kill() }
            try fill(daemon.carrier)
            let hostile = try (0..<processes).map { _ in
                let process = Process()
                process.executableURL = HelperProcess.executable
                let connections = min(Self.mostConnectionsPerProcess, max(1, Self.connections / processes))
                process.arguments = ["hostile-client", daemon.socket, kind.rawValue, "\(connections)"]
                try process.run()
                return process
            }
            defer {
                for process in hostile { Glibc.kill(process.processIdentifier, SIGKILL) }
                for process in hostile { process.waitUntilExit() }
            }
            // Until they have all started: that takes the processors, and is none of the daemon's doing.
            sleep(3 + UInt32(processes / 10))
            return try measure(daemon)
        }
    }

    private func fill(_ carrier: SocketCarrier) throws {
        let items = processes * Self.itemsPerProcess
        for number in 0..<items + Self.largeItems {
            var request = AddRequest(.genericPassword)
            request.attributes = [.service: .text("filled"), .account: .text("\(number)")]
            request.secret = SecretBytes(count: number < items ? 200 : 1 << 20) { _ in }
            _ = try carrier.handle(.add(request), from: .probe)
        }
        if kind == .large {
            var request = AddRequest(.genericPassword)
            request.attributes = [.service: .text("filled"), .account: .text(HostileClient.largest)]
            request.secret = SecretBytes(count: 24 << 20) { _ in }
            _ = try carrier.handle(.add(request), from: .probe)
        }
        _ = try carrier.handle(.passcode(.set(.of(Self.passcode))), from: .owner)
    }

    private func measure(_ daemon: DaemonProcess) throws -> Bool {
        var one = ItemQuery(.genericPassword)
        one.attributes = [.account: .text("7")]
        var all = ItemQuery(.genericPassword)
        all.limit = .all
        var times: [String: [Double]] = [:]
        var failures: [String] = []
        func call(_ name: String, _ request: Request, _ caller: Caller = .probe) {
            // As a program that has just been started.
            let carrier = SocketCarrier(socketPath: daemon.socket)
            let start = ContinuousClock.now
            do { _ = try carrier.handle(request, from: caller) } catch { failures.append("\(name): \(error)") }
            times[name, default: []].append(start.duration(to: .now) / .seconds(1))
        }
        let end = ContinuousClock.now + .seconds(seconds)
        var number = 0
        while number < calls || ContinuousClock.now < end {
            defer { number += 1 }
            call("get", .find(FindRequest(one, wantsSecrets: true)))
            call("find", .find(FindRequest(all, wantsSecrets: false)))
            var add = AddRequest(.genericPassword)
            add.attributes = [.service: .text("added"), .account: .text("\(number)")]
            add.secret = SecretBytes(count: 20_000) { _ in }
            call("add", .add(add))
            call("lock", .lock(.now), .owner)
            call("unlock", .unlock(.of(Self.passcode)), .owner)
            if number >= calls { usleep(200_000) }
        }
        let memory = try daemon.size.peakKilobytes / 1024
        for failure in failures.prefix(10) { say("FAILED hostile \(kind): \(failure)") }
        for (name, times) in times.sorted(by: { $0.key < $1.key }) {
            let sorted = times.sorted()
            say(
                "hostile kind=\(kind) processes=\(processes) call=\(name) count=\(sorted.count) "
                    + "median=\(text(sorted[sorted.count / 2])) worst=\(text(sorted.last ?? 0))")
        }
        say("hostile kind=\(kind) peak=\(memory)MiB failed=\(failures.count)")
        return failures.isEmpty && memory < Self.mostMegabytes
    }

    private func text(_ seconds: Double) -> String { String(format: "%.3f", seconds) }
}

/// A process that takes all it can get, for as long as it lives.
enum HostileClient: String, CaseIterable {
    /// Asks for everything, and reads the answer a little at a time.
    case slow
    /// Says that much will come, sends a byte now and then, and begins anew when it is cut off.
    case announce
    /// Asks for everything in a request with bytes that mean nothing, and reads nothing.
    case pad
    /// The same, and reads the answer a little at a time.
    case sip
    /// Asks for the largest item there is, and reads nothing.
    case large
    /// Sends a second hello of millions of groups without a name.
    case bomb
    /// Sends transactions of empty searches and deletions, which take a hundred times their length once they are decoded.
    case amplify

    static func run(_ words: [String]) throws -> Never {
        guard words.count == 3, let kind = HostileClient(rawValue: words[1]) else { throw HelperFailure("\(words)") }
        for _ in 0..<(try Arguments.number(words[2])) {
            Thread.detachNewThread {
                while true {
                    kind.attack(words[0])
                    if kind != .announce { usleep(20_000) }
                }
            }
        }
        while true { sleep(1_000) }
    }

    /// Until the daemon ends the connection.
    private func attack(_ socket: String) {
        var descriptor: Int32 = -1
        guard ckeychain_connect(socket, 10_000, &descriptor) == 0 else { return }
        defer { close(descriptor) }
        // Of those who change something none finds an item of the others.
        let group = self == .amplify ? "amplify" : "G"
        guard send(Self.frame(.hello(ClientHello(groups: [group], authority: .groups))), descriptor) else { return }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        guard recv(descriptor, &buffer, buffer.count, 0) > 0 else { return }
        switch self {
        case .slow:
            var query = ItemQuery(.genericPassword)
            query.limit = .all
            guard send(Self.frame(.request(id: 1, .find(FindRequest(query, wantsSecrets: true)))), descriptor) else {
                return
            }
            while recv(descriptor, &buffer, buffer.count, 0) > 0 { sleep(4) }
        case .announce:
            guard send(Self.header(11 << 20), descriptor) else { return }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&waiting, 1, 500) == 0, send([0x0a], descriptor) {}
            while recv(descriptor, &buffer, buffer.count, 0) > 0 {}
        case .pad, .sip:
            var query = ItemQuery(.genericPassword)
            query.limit = .all
            let request = Self.message(.request(id: 1, .find(FindRequest(query, wantsSecrets: true))))
            // A field that this version does not know, of 8,200 bytes.
            let padding: [UInt8] = [0xa2, 0x1f, 0x88, 0x40] + [UInt8](repeating: 0, count: 8_200)
            guard send(Self.header(request.count + padding.count) + request + padding, descriptor) else { return }
            if self == .pad { return waitForEnd(of: descriptor) }
            while recv(descriptor, &buffer, buffer.count, 0) > 0 { sleep(3) }
        case .large:
            var query = ItemQuery(.genericPassword)
            query.attributes = [.account: .text(Self.largest)]
            guard send(Self.frame(.request(id: 1, .find(FindRequest(query, wantsSecrets: true)))), descriptor) else {
                return
            }
            waitForEnd(of: descriptor)
        case .bomb:
            // ClientMessage.hello, and in it Hello.groups again and again.
            let size = 70 << 20
            let groups = [UInt8]((0..<32_768).flatMap { _ in [0x12, 0x00] as [UInt8] })
            let length: [UInt8] = [0x12] + [0, 7, 14, 21].map { UInt8(size >> $0 & 0x7f) | ($0 < 21 ? 0x80 : 0) }
            guard send(Self.header(length.count + size) + length, descriptor) else { return }
            for _ in 0..<size / groups.count where !send(groups, descriptor) { return }
            while recv(descriptor, &buffer, buffer.count, 0) > 0 {}
        case .amplify:
            guard send(Self.amplified[Int(descriptor) % 2], descriptor) else { return }
            _ = recv(descriptor, &buffer, buffer.count, 0)
        }
    }

    /// The largest transaction, and one whose frame is just small enough for the daemon's buffer of a connection.
    private static let amplified = [(10_000, 10_000), (0, 1_350)].map { (seen, steps) in
        let query = ItemQuery(.genericPassword)
        return frame(
            .request(
                id: 1,
                .transaction(
                    TransactionRequest(
                        seen: Array(repeating: SeenItems(query, versions: [], hasSecrets: false), count: seen),
                        steps: Array(repeating: .delete(query), count: steps)))))
    }

    private static func header(_ count: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(count).bigEndian, Array.init) + [0, 0, 0, 0]
    }

    /// The account of an item that is as large as items of ordinary programs ever are.
    static let largest = "largest"

    /// Reads nothing meanwhile.
    private func waitForEnd(of descriptor: Int32) {
        var waiting = pollfd(fd: descriptor, events: 0, revents: 0)  // a hang-up is told in any case
        while poll(&waiting, 1, -1) < 0 {}
    }

    private static func frame(_ message: ClientMessage) -> [UInt8] {
        let bytes = self.message(message)
        return header(bytes.count) + bytes
    }

    private static func message(_ message: ClientMessage) -> [UInt8] {
        // The smallest messages there are.
        try! message.frame().message
    }

    private func send(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
