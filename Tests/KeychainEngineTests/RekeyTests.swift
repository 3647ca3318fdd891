import Foundation
import KeychainCrypto
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// The renewal of all keys, at every point at which it can be interrupted.
@Suite struct RekeyTests {
    private static let rows = 620

    private func fill(_ engine: Engine, _ count: Int = rows) throws {
        for number in 0..<count { try engine.add(.password("\(number)", secret: "secret \(number)")) }
    }

    private func expectWhole(_ engine: Engine, _ count: Int = rows) throws {
        let items = try engine.find(.password(limit: .all))
        #expect(items.count == count)
        for number in [0, 1, count / 2, count - 1] {
            #expect(try engine.secret(of: "\(number)") == "secret \(number)")
        }
        #expect(try engine.findings().allSatisfy { $0.text.contains("renewal") })
    }

    @Test("While keys are renewed everything is found, once, and changed as usual", arguments: KeychainHost.allCases)
    func halfWay(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let engine = keychain.engine
            try fill(engine)
            var reply = try engine.handle(.passcode(.set(.of("1234"))), from: caller)
            reply = try engine.handle(.rekeyStep, from: caller)
            guard case .rekeyed(let progress) = reply else {
                Issue.record("another answer")
                return
            }
            #expect(progress.done > 0 && progress.done < Self.rows && !progress.isFinished)
            #expect(try engine.generations().rows == [1, 2])
            #expect(try engine.find(.password(limit: .all)).count == Self.rows)
            #expect(try engine.find(.password(limit: .all), as: .owner).count == Self.rows)
            #expect(try engine.secret(of: "0") == "secret 0")
            #expect(try engine.secret(of: "\(Self.rows - 1)") == "secret \(Self.rows - 1)")
            for account in ["0", "\(Self.rows - 1)"] {
                let error = #expect(throws: KeychainError.self) { try engine.add(.password(account)) }
                #expect(error?.code == .duplicateItem)
            }
            _ = try engine.handle(.delete(.password([.account: .text("3")])), from: caller)
            _ = try engine.handle(.delete(.password([.account: .text("\(Self.rows - 3)")])), from: caller)
            try engine.add(.password("3", secret: "secret 3"))
            try engine.add(.password("\(Self.rows - 3)", secret: "secret \(Self.rows - 3)"))
            try engine.finishRekey(after: reply)
            #expect(try engine.generations() == Generations(rows: [2], homes: [2]))
            try expectWhole(engine)
        }
    }

    @Test("A renewal that was cut short goes on with the next unlock", arguments: [0, 1])
    func resumes(steps: Int) throws {
        try withKeychain { keychain throws in
            try fill(keychain.engine)
            _ = try keychain.engine.handle(.passcode(.set(.of("1234"))), from: caller)
            for _ in 0..<steps { _ = try keychain.engine.handle(.rekeyStep, from: caller) }
            // Another process, after the one above was killed and the system started anew.
            keychain.restart()
            let engine = try Engine(keychain.configuration)
            #expect(try engine.lockStatus().isRekeying)
            #expect(try engine.lockStatus().state == .neverUnlocked)
            let refused = #expect(throws: KeychainError.self) { try engine.handle(.rekeyStep, from: caller) }
            #expect(refused?.code == .interactionNotAllowed)
            _ = try engine.handle(.unlock(.of("1234")), from: caller)
            try expectWhole(engine)
            try engine.finishRekey(after: try engine.handle(.rekeyStep, from: caller))
            #expect(try engine.generations() == Generations(rows: [2], homes: [2]))
            #expect(try keychain.keybag.keyGenerations == [2])
            try expectWhole(engine)
        }
    }

    @Test("A process that was killed before it told the database so is caught up with")
    func killedBeforeDatabase() throws {
        try withKeychain { keychain throws in
            try fill(keychain.engine, 10)
            _ = try keychain.engine.handle(.passcode(.set(.of("1234"))), from: caller)
            let store = ClosedStore(directory: keychain.directory)
            try store.edit("UPDATE store SET value = 1 WHERE key = 'generation'")
            try keychain.engine.add(.password("new"))
            #expect(try store.value("SELECT value FROM store WHERE key = 'generation'") == 2)
            try keychain.engine.finishRekey(after: try keychain.engine.handle(.rekeyStep, from: caller))
            #expect(try keychain.engine.generations().rows == [2])
        }
    }

    @Test("A process that had the store open finds and writes under the new keys")
    func otherProcess() throws {
        try withKeychain { keychain throws in
            try fill(keychain.engine, 10)
            let other = try Engine(keychain.configuration)
            #expect(try other.secret(of: "3") == "secret 3")
            try keychain.setPasscode("1234")
            #expect(try other.secret(of: "3") == "secret 3")
            try other.add(.password("new"))
            #expect(try keychain.engine.secret(of: "new") == "secret")
            #expect(try keychain.engine.generations().rows == [2])
            try keychain.engine.changePasscode(from: "1234", to: "5678", rekey: true)
            #expect(throws: KeychainError.self) { try other.add(.password("new")) }
            #expect(try other.find(.password(limit: .all)).count == 11)
            try keychain.lock()
            #expect(throws: KeychainError.self) { try other.secret(of: "3") }
        }
    }

    @Test("A renewal that others finished, and a second one that they left, are no matter of where the first one stood")
    func anothersRenewal() throws {
        try withKeychain { keychain in
            try fill(keychain.engine)
            _ = try keychain.engine.handle(.passcode(.set(.of("1234"))), from: caller)
            _ = try keychain.engine.handle(.rekeyStep, from: caller)
            let other = try Engine(keychain.configuration)
            try other.finishRekey(after: try other.handle(.rekeyStep, from: caller))
            // The other one begins again, and gets no further.
            let change = PasscodeRequest.change(old: .of("1234"), new: .of("1234"), rekey: true)
            _ = try other.handle(.passcode(change), from: caller)
            try keychain.engine.finishRekey(after: try keychain.engine.handle(.rekeyStep, from: caller))
            #expect(try keychain.engine.generations() == Generations(rows: [3], homes: [3]))
            try expectWhole(keychain.engine)
        }
    }

    @Test("A process that holds its keys itself is refused, not told that nothing is there, after others renewed them")
    func renewedElsewhere() throws {
        try withKeychain(.embeddedWithoutKeyring) { keychain in
            try keychain.engine.add(.password("ck", protection: .afterFirstUnlock))
            try keychain.setPasscode("1234")
            let other = try AgentProcess("serve", keychain.directory.path, usesKeyring: false)
            defer { try? other.end() }
            #expect(try other.ask("unlock 1234") == "0")
            #expect(try other.ask("get ck") == "secret")
            try keychain.engine.changePasscode(from: "1234", to: "1234", rekey: true)
            #expect(try other.ask("get ck") == "-25308")
            #expect(try other.ask("add new") == "-25308")
            #expect(try other.ask("unlock 1234") == "0")
            #expect(try other.ask("get ck") == "secret")
        }
    }

    @Test("A write that was begun before a renewal is not carried out under the former keys")
    func staleWrite() throws {
        try withKeychain { keychain in
            let former = try keychain.engine.items()
            try keychain.setPasscode("1234")
            let error = #expect(throws: KeychainError.self) { try former.add(.password("late"), from: caller) }
            #expect(error?.signal == .staleKeys)
            #expect(try keychain.engine.databaseRows().isEmpty)
        }
    }

    @Test("A row that comes under the former keys behind the place of a renewal is brought under the new ones")
    func rowBehind() throws {
        try withKeychain { keychain in
            try fill(keychain.engine)
            let store = ClosedStore(directory: keychain.directory)
            _ = try keychain.engine.handle(.passcode(.set(.of("1234"))), from: caller)
            // The renewal passes it by.
            try store.edit("UPDATE item SET generation = 2 WHERE id = 1")
            let reply = try keychain.engine.handle(.rekeyStep, from: caller)
            try store.edit("UPDATE item SET generation = 1 WHERE id = 1")
            try keychain.engine.finishRekey(after: reply)
            #expect(try keychain.engine.generations().rows == [2])
            try expectWhole(keychain.engine)
        }
    }

    @Test("After a renewal the log holds no row as it was under the former keys")
    func emptiedLog() throws {
        try withKeychain { keychain in
            try fill(keychain.engine, 10)
            let log = ClosedStore(directory: keychain.directory).log
            let former = try keychain.engine.wrappedKeys().values.map(\.metadata)
            let before = try Data(contentsOf: log)
            #expect(former.count == 10 && former.allSatisfy { before.range(of: $0) != nil })
            try keychain.setPasscode("1234")
            let after = try Data(contentsOf: log)
            #expect(former.allSatisfy { after.range(of: $0) == nil })
        }
    }

    @Test("A process that holds former keys drops none of the keybag's")
    func finishWithFormerKeys() throws {
        try withKeychain(.embeddedWithoutKeyring) { keychain in
            let keys = keychain.engine.keys
            try keychain.beginRekeyHoldingFormerKeys(of: [.whenUnlocked])
            let error = #expect(throws: KeychainError.self) { try keys.finishRekey() }
            #expect(error?.code == .interactionNotAllowed)
            #expect(try keychain.keybag.isRekeying)
        }
    }

    @Test("A check by a process that holds former keys counts what it can open and not look up as locked")
    func checkWithFormerKeys() throws {
        try withKeychain(.embeddedWithoutKeyring) { keychain in
            try keychain.engine.add(.password("a"))
            try keychain.beginRekeyHoldingFormerKeys(of: [.whenUnlocked, .afterFirstUnlock])
            #expect(try keychain.engine.lockedCountInCheck() == "1 item is")
        }
    }

    @Test("What to do about an unfinished renewal is something that works, with a passcode and without")
    func advice() throws {
        try withKeychain { keychain in
            try fill(keychain.engine)
            _ = try keychain.engine.handle(.passcode(.set(.of("1234"))), from: caller)
            #expect(try keychain.engine.findings().contains { $0.advice.contains("'keychainctl unlock'") })
            // As after a kill between the removal of the passcode and what follows it.
            try keychain.engine.keys.removePasscode(.of("1234"))
            #expect(try keychain.engine.lockStatus().isRekeying)
            #expect(try keychain.engine.findings().contains { $0.advice.contains("'keychainctl passcode set'") })
            try keychain.setPasscode("5678")
            #expect(try keychain.engine.findings().isEmpty)
            try expectWhole(keychain.engine)
        }
    }

    @Test("A row that does not open keeps its place and its keys, and does not stop the others")
    func damagedRow() throws {
        try withKeychain { keychain throws in
            try fill(keychain.engine, 10)
            let store = ClosedStore(directory: keychain.directory)
            try store.edit("UPDATE item SET metadata = zeroblob(length(metadata)) WHERE id = 5")
            _ = try keychain.engine.handle(.passcode(.set(.of("1234"))), from: caller)
            let reply = try keychain.engine.handle(.rekeyStep, from: caller)
            let progress = if case .rekeyed(let progress) = reply { progress } else { nil as RekeyProgress? }
            #expect(progress == RekeyProgress(done: 9, total: 10, isFinished: true))
            #expect(try keychain.engine.find(.password(limit: .all)).count == 9)
            #expect(try keychain.engine.generations().rows == [1, 2])
            #expect(try keychain.keybag.keyGenerations == [2, 1])
        }
    }

    @Test("Writers in other processes lose nothing while keys are renewed", .enabled(if: hasKeyring))
    func writersMeanwhile() throws {
        try withKeychain { keychain throws in
            try fill(keychain.engine)
            let writers = try (0..<2).map { try AgentProcess("add", keychain.directory.path, "writer-\($0)", "100") }
            try keychain.setPasscode("1234")
            for writer in writers {
                let outcome = try writer.finish()
                #expect(outcome.status == 0)
                #expect(outcome.lines.count == 100)
            }
            #expect(try keychain.engine.generations().rows == [2])
            #expect(try keychain.engine.find(.password(limit: .all)).count == Self.rows + 200)
            #expect(try keychain.engine.findings().isEmpty)
        }
    }

    /// What may be under way when the process is killed.
    enum Work: String, CaseIterable { case set, change, remove }

    @Test(
        "A passcode that is set, changed with new keys or removed, killed at any moment, costs nothing",
        arguments: Work.allCases)
    func killed(work: Work) throws {
        for round in stride(from: 0, to: 4, by: Effort.stride(3)) {
            try withKeychain { keychain in
                if work != .set { try keychain.setPasscode("1234") }
                try fill(keychain.engine)
                let agent = try AgentProcess("passcode", keychain.directory.path, work.rawValue, "1234")
                // The agent reports every step. The later rounds let it come further.
                _ = try agent.killAfter(bytes: round)
                keychain.engine.withdrawKeys()
                let engine = try Engine(keychain.configuration)
                if try engine.lockStatus().hasPasscode { _ = try engine.handle(.unlock(.of("1234")), from: caller) }
                try expectWhole(engine)
                try engine.finishRekey(after: try engine.handle(.rekeyStep, from: caller))
                #expect(try engine.generations().rows.count == 1)
                try expectWhole(engine)
                #expect(try keychain.keybag.keyGenerations.count == 1)
            }
        }
    }
}

extension TestKeychain {
    /// Begins a renewal, and leaves this process with the keys from before it, as one is that unlocked the store and was
    /// not told.
    fileprivate func beginRekeyHoldingFormerKeys(of tiers: [KeyTier]) throws {
        let keys = engine.keys
        try setPasscode("1234")
        let former = try StoreKeys(try keys.begin())
        _ = try engine.handle(
            .passcode(.change(old: .of("1234"), new: .of("1234"), rekey: true)), from: .owner)
        let sets = Dictionary(uniqueKeysWithValues: tiers.map { ($0, former[$0]) })
        keys.held.hold(sets, record: try #require(keys.state.read()), try keys.begin().snapshot.bag)
        keys.forgetSnapshot()
    }
}
