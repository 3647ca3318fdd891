import CKeychainLinux
import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

/// What a debugger finds in the memory of a program that used the keychain and lives on.
@Suite struct MemoryTests {
    private static let accounts = (0..<8).map { "item-\($0)" }

    /// A process that has found and added items of every "when unlocked" class.
    private func withClient(
        usesKeyring: Bool, _ body: (TestKeychain, AgentProcess, _ needles: [String: Data]) throws -> Void
    ) throws {
        try withKeychain { keychain in
            try keychain.setPasscode("1234")
            for (number, account) in Self.accounts.enumerated() {
                let protections = Protection.allCases.filter { $0.tier == .whenUnlocked }
                try keychain.engine.add(
                    .password(account, protection: protections[number % protections.count]))
            }
            let client = try AgentProcess("serve", keychain.directory.path, usesKeyring: usesKeyring)
            defer { try? client.end() }
            if !usesKeyring { try #require(try client.ask("unlock 1234") == "0") }
            for account in Self.accounts { try #require(try client.ask("get \(account)") == "secret") }
            try #require(try client.ask("add new") == "0")
            try body(keychain, client, try StoreNeedles(keychain.directory, passcode: "1234").keys)
        }
    }

    @Test(
        "After a lock, a client of the kernel's keyring has no key of the locked tier, and while it works it has",
        .enabled(if: hasKeyring))
    func clientOfKeyring() throws {
        try withClient(usesKeyring: true) { keychain, client, needles throws in
            // Of class keys, file keys and index keys there are states, too.
            #expect(needles.count == 1 + 5 + 3 * 9 + 2 * needles.keys.count { $0.hasPrefix("inner state") })
            #expect(needles.keys.count { $0.hasPrefix("inner state") } >= 12)
            let scanner = MemoryScanner(process: client.identifier)
            #expect(try scanner.hits(of: needles) == [])
            // The control: the same scan sees keys in a process that stands still in the middle of an update.
            let busy = try AgentProcess("stall", keychain.directory.path, "1")
            defer { busy.kill() }
            try #require(try busy.readLine() == "stalled")
            let held = try MemoryScanner(process: busy.identifier).hits(of: needles)
            #expect(held.contains { $0.hasPrefix("class key") }, "\(held.sorted())")
            busy.kill()
            try keychain.lock()
            #expect(try client.ask("get item-0") == "-25308")
            #expect(try scanner.hits(of: needles) == [])
        }
    }

    @Test("Without a keyring the process that unlocked has the keys, and loses them at the lock unasked")
    func processThatHoldsKeys() throws {
        try withClient(usesKeyring: false) { keychain, client, needles throws in
            let scanner = MemoryScanner(process: client.identifier)
            let classKeys = Set(needles.keys.filter { $0.hasPrefix("class key") })
            let hits = try scanner.hits(of: needles)
            #expect(hits == classKeys, "\(hits.symmetricDifference(classKeys).sorted())")
            try keychain.lock()
            #expect(try isTrueSoon { try scanner.hits(of: needles).isEmpty })
            #expect(try client.ask("get item-0") == "-25308")
        }
    }

    @Test(
        "A process that checked passcodes keeps neither the passcode's key nor any key of the locked tier",
        .enabled(if: hasKeyring))
    func processThatUnlocked() throws {
        try withClient(usesKeyring: true) { keychain, client, needles throws in
            try keychain.lock()
            #expect(try client.ask("unlock wrong") == "-25293")
            #expect(try client.ask("unlock 1234") == "0")
            #expect(try client.ask("get item-3") == "secret")
            #expect(try client.ask("lock") == "0")
            #expect(try MemoryScanner(process: client.identifier).hits(of: needles) == [])
        }
    }

    @Test(
        "A process that set and changed the passcode, renewed all keys, updated and deleted keeps none of them",
        .enabled(if: hasKeyring))
    func processThatDidEverything() throws {
        try withClient(usesKeyring: true) { keychain, client, needles throws in
            #expect(try client.ask("update item-1") == "0")
            #expect(try client.ask("delete item-2") == "0")
            #expect(try client.ask("check") == "0")
            #expect(try client.ask("change 1234 5678") == "0")
            let later = try StoreNeedles(keychain.directory, passcode: "5678").keys
            // The halves of rows keep their keys; everything above them is new.
            for (name, key) in needles where name.hasPrefix("class") || name.hasPrefix("row") {
                #expect(later[name] != key, "\(name)")
            }
            #expect(try client.ask("get item-1") == "new")
            #expect(try client.ask("lock") == "0")
            let scanner = MemoryScanner(process: client.identifier)
            #expect(try scanner.hits(of: needles) == [])
            #expect(try scanner.hits(of: later) == [])
        }
    }

    @Test("What was in the vector registers before a call is nowhere after it, whatever the dynamic linker saves")
    func registers() throws {
        try withClient(usesKeyring: false) { keychain, client, _ throws in
            let mark: UInt64 = 0x9e37_79b9_7f4a_7c15
            let needles = ["registers": [mark, mark, mark, mark].withUnsafeBytes { Data($0) }]
            #expect(try client.ask("mark \(mark) get item-0") == "0")
            #expect(try MemoryScanner(process: client.identifier).hits(of: needles) == [])
            // The control: without a call the linker saves what is in the registers.
            let idle = try AgentProcess("serve", keychain.directory.path, usesKeyring: false)
            defer { try? idle.end() }
            #expect(try idle.ask("mark \(mark)") == "0")
            #expect(try MemoryScanner(process: idle.identifier).hits(of: needles) == ["registers"])
        }
    }

    @Test("No call uses more of the stack than is overwritten when it ends")
    func depth() throws {
        try withClient(usesKeyring: false) { _, client, _ throws in
            func depth(_ call: String) throws -> Int { try #require(Int(try client.ask("depth \(call)"))) }
            // The first call also binds what overwrites. A call that does next to nothing shows how far that reaches.
            _ = try depth("state")
            let overwritten = try depth("state")
            #expect(overwritten > ckeychain_call_stack())
            // The agent calls the engine from functions of its own, whose frames differ.
            let tolerance = 4096
            for call in [
                "add other", "get item-0", "update item-1", "delete item-2", "check", "lock", "unlock 1234",
                "unlock wrong",
                "change 1234 5678",
            ] {
                #expect(try depth(call) <= overwritten + tolerance, "\(call)")
            }
        }
    }

    /// Asks again and again, for minutes if need be: a process that is told of a lock erases its keys when it gets its turn.
    private func isTrueSoon(_ condition: () throws -> Bool) throws -> Bool {
        let end = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < end {
            if try condition() { return true }
        }
        return try condition()
    }
}
