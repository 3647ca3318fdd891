import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// T13 between processes: one unlocks or locks, another one notices.
@Suite struct LockProcessTests {
    @Test(
        "T13 One process unlocks and another reads; one locks and the other is refused on its very next call",
        .enabled(if: hasKeyring))
    func twoProcesses() throws {
        try withKeychain { keychain in
            try keychain.engine.add(.password("ak"))
            try keychain.engine.add(.password("ck", protection: .afterFirstUnlock))
            try keychain.engine.add(.password("dk", protection: .always))
            let other = try AgentProcess("serve", keychain.directory.path)
            defer { try? other.end() }
            #expect(try other.ask("get ak") == "secret")
            try keychain.setPasscode("1234")
            #expect(try other.ask("get ak") == "secret")
            for _ in 0..<3 {
                try keychain.lock()
                #expect(try other.ask("get ak") == "-25308")
                #expect(try other.ask("get ck") == "secret")
                #expect(try other.ask("add ak") == "-25308")
                #expect(try other.ask("state") == "locked")
                try keychain.unlock("1234")
                #expect(try other.ask("get ak") == "secret")
                #expect(try other.ask("lock") == "0")
                #expect(try keychain.lockStatus.state == .locked)
                #expect(throws: KeychainError.self) { try keychain.engine.secret(of: "ak") }
                #expect(try other.ask("unlock 1234") == "0")
                #expect(try keychain.engine.secret(of: "ak") == "secret")
            }
            keychain.restart()
            #expect(try other.ask("state") == "locked")
        }
    }

    @Test("T13 A process that begins after a restart is refused until somebody unlocks", .enabled(if: hasKeyring))
    func beforeFirstUnlock() throws {
        try withKeychain { keychain in
            try keychain.setPasscode("1234")
            try keychain.engine.add(.password("ck", protection: .afterFirstUnlock))
            try keychain.engine.add(.password("dk", service: "other", protection: .always))
            keychain.restart()
            let other = try AgentProcess("serve", keychain.directory.path)
            defer { try? other.end() }
            #expect(try other.ask("state") == "never-unlocked")
            #expect(try other.ask("get ck") == "-25308")
            #expect(try other.ask("get dk") == "secret")
            #expect(try other.ask("add new") == "-25308")
            try keychain.unlock("1234")
            #expect(try other.ask("get ck") == "secret")
        }
    }

    @Test("Where there is no keyring, each process unlocks for itself, and a lock reaches all of them")
    func withoutKeyring() throws {
        try withKeychain(.embeddedWithoutKeyring) { keychain in
            try keychain.setPasscode("1234")
            try keychain.engine.add(.password("ak"))
            let other = try AgentProcess("serve", keychain.directory.path, usesKeyring: false)
            defer { try? other.end() }
            #expect(try other.ask("get ak") == "-25308")
            #expect(try other.ask("unlock 1234") == "0")
            #expect(try other.ask("get ak") == "secret")
            #expect(try keychain.engine.secret(of: "ak") == "secret")
            #expect(try other.ask("lock") == "0")
            #expect(throws: KeychainError.self) { try keychain.engine.secret(of: "ak") }
            try keychain.unlock("1234")
            #expect(try other.ask("get ak") == "-25308")
        }
    }

    @Test(
        "A lock-state file that is removed, moved or replaced locks nothing open for ever",
        arguments: hasKeyring ? [KeychainHost.embedded, .embeddedWithoutKeyring] : [.embeddedWithoutKeyring])
    func removedFile(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            try keychain.engine.add(.password("ak"))
            let other = try AgentProcess("serve", keychain.directory.path, usesKeyring: host == .embedded)
            defer { try? other.end() }
            if host == .embeddedWithoutKeyring { #expect(try other.ask("unlock 1234") == "0") }
            #expect(try other.ask("get ak") == "secret")
            let file = keychain.directory.appendingPathComponent("store/lock-state")
            let aside = keychain.directory.appendingPathComponent("aside")
            func remove() throws { try FileManager.default.removeItem(at: file) }
            let changes: [() throws -> Void] =
                [Data(), Data(repeating: 0xff, count: 64), Data(count: 10)].map { content in
                    {
                        try remove(); try content.write(to: file)
                    }
                } + [
                    remove,
                    { try FileManager.default.moveItem(at: file, to: aside) },
                    // As a backup of hard links has it, and another one that is put back.
                    {
                        let record = try Data(contentsOf: file)
                        try FileManager.default.removeItem(at: aside)
                        try FileManager.default.linkItem(at: file, to: aside)
                        try remove()
                        try record.write(to: file)
                    },
                ]
            // Locked by a process that has the former file open, and by one that has come since.
            for isNew in [false, true] {
                for change in changes {
                    try change()
                    if isNew {
                        let locker = try AgentProcess("serve", keychain.directory.path, usesKeyring: host == .embedded)
                        #expect(try locker.ask("lock") == "0")
                        try locker.end()
                    } else {
                        try keychain.lock()
                    }
                    let end = ContinuousClock.now + .seconds(60)
                    var answer = try other.ask("get ak")
                    // A process that holds keys itself learns of the removal from its thread.
                    while answer != "-25308", host == .embeddedWithoutKeyring, ContinuousClock.now < end {
                        answer = try other.ask("get ak")
                    }
                    #expect(answer == "-25308")
                    try keychain.unlock("1234")
                    if host == .embeddedWithoutKeyring { #expect(try other.ask("unlock 1234") == "0") }
                    #expect(try other.ask("get ak") == "secret")
                }
                try FileManager.default.removeItem(at: aside)
            }
        }
    }
}
