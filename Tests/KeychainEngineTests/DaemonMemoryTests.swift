import CKeychainTestSupport
import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

/// What root finds in the memory of a daemon that has served many calls. Nobody else can look into it.
@Suite(.enabled(if: geteuid() == 0, "only root looks into a daemon's memory")) struct DaemonMemoryTests {
    private static let accounts = (0..<8).map { "item-\($0)" }

    /// A daemon that was unlocked and has found, added, changed and deleted items.
    private func withDaemon(
        _ arguments: [String] = [], _ body: (DaemonProcess, _ needles: [String: Data]) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            let daemon = DaemonProcess(in: directory, arguments)
            try daemon.start()
            defer { daemon.kill() }
            let carrier = daemon.carrier
            try carrier.setPasscode("1234")
            let protections = Protection.allCases.filter { $0.tier == .whenUnlocked }
            for (number, account) in Self.accounts.enumerated() {
                try carrier.add(.password(account, protection: protections[number % protections.count]))
            }
            for account in Self.accounts { #expect(try carrier.secret(of: account) == "secret") }
            let gone = try carrier.add(.password("gone"))
            var query = ItemQuery(.genericPassword)
            query.persistentReference = gone.persistentReference
            _ = try carrier.handle(.delete(query), from: caller)
            try body(daemon, try StoreNeedles(directory, passcode: "1234").keys)
        }
    }

    @Test("After a lock there is no key of the locked tier nor of its rows; before, in ordinary memory, there is")
    func lock() throws {
        try withDaemon(["--allow-hibernation"]) { daemon, needles throws in
            let scanner = MemoryScanner(process: daemon.identifier)
            #expect(needles.count > 20)
            // The control: the same scan finds what is held while unlocked, and nothing of single rows.
            let classKeys = Set(needles.keys.filter { $0.hasPrefix("class key") })
            let hits = try scanner.hits(of: needles)
            #expect(hits == classKeys, "\(hits.symmetricDifference(classKeys).sorted())")
            _ = try daemon.carrier.handle(.lock(.now), from: .owner)
            #expect(try lastHits(scanner, needles) == [])
            let error = #expect(throws: KeychainError.self) { try daemon.carrier.secret(of: "item-0") }
            #expect(error?.code == .interactionNotAllowed)
            #expect(try lastHits(scanner, needles) == [])
        }
    }

    @Test(
        "Where the kernel has secret memory, not even root finds a key while it is unlocked",
        .enabled(if: ckeychain_test_has_secret_memory() == 1))
    func secretMemory() throws {
        try withDaemon { daemon, needles throws in
            #expect(try daemon.carrier.secret(of: "item-0") == "secret")
            #expect(try MemoryScanner(process: daemon.identifier).hits(of: needles) == [])
        }
    }

    @Test("The private number of a key in the engine is not in the daemon's memory, unlocked or not, after any use")
    func keysInEngine() throws {
        try withTemporaryDirectory { directory in
            let daemon = DaemonProcess(in: directory, ["--allow-hibernation"])
            try daemon.start()
            defer { daemon.kill() }
            let carrier = daemon.carrier
            try carrier.setPasscode("1234")
            guard case .added(let key) = try carrier.handle(.makeKey(AddRequest(.key)), from: caller),
                case .data(let point)? = key.attributes[.tokenObjectID]
            else { throw KeychainError(.internalFailure, message: "no key was made") }
            for number in 0..<50 {
                let digest = Data(repeating: UInt8(number), count: 32)
                for operation in [KeyUse.Operation.sign(digest: digest), .agree(point: point)] {
                    let reply = try carrier.handle(.useKey(KeyUse(key.persistentReference, operation)), from: caller)
                    guard case .keyResult = reply else { throw KeychainError(.internalFailure, message: "no result") }
                }
            }
            let all = try StoreNeedles(directory, passcode: "1234").keys
            let number = all.filter { $0.key.hasPrefix("private number") }
            #expect(number.count == 1)
            let scanner = MemoryScanner(process: daemon.identifier)
            // The control: what is held while unlocked is found.
            #expect(try !scanner.hits(of: all).isEmpty)
            #expect(try lastHits(scanner, number) == [])
        }
    }

    @Test("A secret is not in the daemon's memory after it was answered, nor a passcode after it was checked")
    func secrets() throws {
        try withDaemon { daemon, _ throws in
            let carrier = daemon.carrier
            let scanner = MemoryScanner(process: daemon.identifier)
            // Of every size that takes another way: with the message, in a buffer of its own, in several pieces.
            for size in [24, 3_000, 100_000, 3 << 20] {
                var generator = SeededGenerator()
                let secret = generator.bytes(size)
                let needles = ["secret": Data(secret.prefix(24)), "its end": Data(secret.suffix(24))]
                var request = AddRequest(.genericPassword)
                request.attributes = [.account: .text("size \(size)")]
                request.secret = SecretBytes(copying: secret)
                _ = try carrier.handle(.add(request), from: caller)
                let found = try carrier.find(.password([.account: .text("size \(size)")]))
                #expect(found.first?.secret?.copyData() == secret)
                #expect(try lastHits(scanner, needles) == [], "\(size) bytes")
            }
            let passcode = "correct horse battery staple of \(UUID())"
            let needle = ["passcode": Data(passcode.utf8)]
            #expect(throws: KeychainError.self) { try carrier.handle(.unlock(.of(passcode)), from: .owner) }
            try carrier.changePasscode(from: "1234", to: passcode)
            #expect(try lastHits(scanner, needle) == [])
        }
    }

    /// What is found when the daemon has erased what it erases: an answer arrives a moment before it is erased where it
    /// was sent from, and that thread may have to wait for its turn.
    private func lastHits(_ scanner: MemoryScanner, _ needles: [String: Data]) throws -> Set<String> {
        var hits = try scanner.hits(of: needles)
        for _ in 0..<100 where !hits.isEmpty {
            usleep(50_000)
            hits = try scanner.hits(of: needles)
        }
        return hits
    }
}
