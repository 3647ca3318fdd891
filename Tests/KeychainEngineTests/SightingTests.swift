import Foundation
import KeychainModel
import KeychainSalvage
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// An item that has expired is hidden at once, and removed only when its date has passed for good.
@Suite struct SightingTests {
    private static let hour = 3_600.0
    private static let day = 86_400.0
    private static let decade = 3_650 * day

    private func expiring(_ account: String, after seconds: Double) -> AddRequest {
        var request = AddRequest.password(account)
        request.expires = .after(UInt64(seconds * 1_000))
        return request
    }

    private func isMissing(_ test: TestKeychain, _ account: String) -> Bool {
        do {
            _ = try test.handler.find(.password([.account: .text(account)]))
            return false
        } catch { return error.code == .itemNotFound }
    }

    private func database(_ test: TestKeychain) throws -> TestDatabase {
        try TestDatabase(test.directory.appendingPathComponent("store/keychain.db"))
    }

    private func rowCount(_ test: TestKeychain) throws -> Int64? {
        try database(test).rows("SELECT count(*) AS count FROM item").first?["count"]?.number
    }

    private func sightings(_ test: TestKeychain) throws -> Data? {
        let value = try database(test).rows("SELECT value FROM store WHERE key = 'sightings'").first?["value"]
        if case .blob(let bytes)? = value { return bytes }
        return nil
    }

    /// A write that has nothing to do with expiry.
    private func write(_ test: TestKeychain, _ number: Int = 0) throws {
        try test.handler.add(.password("write \(number)"))
        _ = try test.handler.handle(.delete(.password([.account: .text("write \(number)")])), from: caller)
    }

    @Test("Sixteen edited bytes of the lock record hide items, and neither writes nor namesakes destroy them")
    func editedRecord() throws {
        try withKeychain { test in
            try test.handler.add(expiring("a", after: 300 * Self.day))
            let file = test.directory.appendingPathComponent("store/lock-state")
            var bytes = try Data(contentsOf: file)
            let date = UInt64(253_402_300_799_000)
            for (offset, word) in [(64, date), (72, ~date)] {
                withUnsafeBytes(of: word.bigEndian) { bytes.replaceSubrange(offset..<offset + 8, with: $0) }
            }
            try bytes.write(to: file, options: [])
            test.restart()
            #expect(isMissing(test, "a"))
            for number in 0..<5 {
                try write(test, number)
                _ = try test.handler.handle(.removeExpired, from: .owner)
                test.clock.advance(by: Self.hour)
            }
            // What a program does that finds nothing.
            try test.handler.add(.password("a", secret: "new"))
            #expect(try rowCount(test) == 2)
            let seen = SeenTime(test.configuration)
            #expect(seen.ahead?.milliseconds == date)
            try seen.forget()
            #expect(seen.ahead == nil)
            test.restart()
            #expect(try test.handler.find(.password([.account: .text("a")], limit: .all)).count == 2)
        }
    }

    @Test(
        "A clock that is ten years ahead destroys nothing, for a minute or for 59, unless it stays so",
        arguments: [60, 3_540.0])
    func farAhead(_ seconds: Double) throws {
        try withKeychain { test in
            try test.handler.add(expiring("a", after: 300 * Self.day))
            test.clock.setAhead(by: Self.decade)
            try write(test)
            #expect(isMissing(test, "a"))
            test.clock.advance(by: seconds)
            try write(test)
            test.clock.setBack(by: Self.decade)
            for _ in 0..<3 {
                try write(test)
                test.clock.advance(by: Self.hour)
            }
            // The wrong time comes again for a moment: the hour begins anew.
            test.clock.setAhead(by: Self.decade)
            try write(test)
            #expect(try rowCount(test) == 1)
            test.clock.advance(by: Self.hour)
            try write(test)
            #expect(try rowCount(test) == 0)
        }
    }

    @Test("A sighting of a clock that was far ahead removes nothing, also where something else has expired")
    func laterSighting() throws {
        try withKeychain { test in
            try test.handler.add(expiring("gone", after: 1))
            try test.handler.add(expiring("a", after: 300 * Self.day))
            test.clock.advance(by: 1)
            test.clock.setAhead(by: Self.decade)
            try write(test)
            test.clock.setBack(by: Self.decade)
            try write(test)
            test.clock.advance(by: Self.hour)
            try write(test)
            #expect(try rowCount(test) == 1)
            try SeenTime(test.configuration).forget()
            #expect(try test.handler.secret(of: "a") == "secret")
        }
    }

    @Test("A step of the clock within the hour begins it anew; what two clocks differ by of themselves does not")
    func step() throws {
        try withKeychain { test in
            try test.handler.add(expiring("a", after: 1))
            test.clock.advance(by: 1)
            try write(test)
            test.clock.advance(by: Self.hour / 2)
            test.clock.setAhead(by: 100)
            try write(test)
            test.clock.advance(by: Self.hour / 2)
            try write(test)
            #expect(try rowCount(test) == 1)
            test.clock.setAhead(by: 70)
            test.clock.advance(by: Self.hour / 2)
            try write(test)
            #expect(try rowCount(test) == 0)
        }
    }

    @Test("After a restart an item goes once the clock is known to be right, and a dead clock removes nothing")
    func restart() throws {
        try withKeychain { test in
            try test.handler.add(expiring("a", after: 1))
            test.clock.advance(by: 1)
            try write(test)
            test.clock.restart()
            test.restart()
            test.clock.advance(by: 60)
            // Nobody has set it yet.
            try write(test)
            #expect(try rowCount(test) == 1)
            test.clock.setSynchronized(true)
            try write(test)
            #expect(try rowCount(test) == 0)

            try test.handler.add(expiring("b", after: 1))
            test.clock.advance(by: 1)
            try write(test)
            test.clock.restart()
            test.restart()
            test.clock.setSynchronized(false)
            test.clock.setBack(by: 10 * Self.decade)
            try write(test)
            test.clock.setAhead(by: 10 * Self.decade)
            test.clock.setSynchronized(true)
            try write(test)
            #expect(try rowCount(test) == 1)
            test.clock.advance(by: Self.hour)
            try write(test)
            #expect(try rowCount(test) == 0)
        }
    }

    @Test("Where the file system has another time, or none, and where the kernel hides its start, nothing is removed")
    func disagreement() throws {
        for change: (TestClock) -> Void in [
            { $0.setFileOffset(301) }, { $0.setFileOffset(-301) }, { $0.setFileOffset(nil) }, { $0.hideBoot() },
        ] {
            try withKeychain { test in
                try test.handler.add(expiring("a", after: 1))
                change(test.clock)
                for _ in 0..<3 {
                    test.clock.advance(by: Self.hour)
                    try write(test)
                }
                #expect(isMissing(test, "a"))
                #expect(try rowCount(test) == 1)
                #expect(try sightings(test) == nil)
            }
        }
    }

    @Test("A sighting that was edited, cut, or copied from another store is none")
    func forged() throws {
        func oldSighting() throws -> Data {
            try withKeychain { test in
                try test.handler.add(expiring("a", after: 1))
                test.clock.advance(by: 1)
                try write(test)
                return try #require(try sightings(test))
            }
        }
        let foreign = try oldSighting()
        try withKeychain { test in
            try test.handler.add(expiring("a", after: 1))
            test.clock.advance(by: 1)
            try write(test)
            let own = try #require(try sightings(test))
            #expect(own.count == 48)
            var forgeries = own.indices.map { index in
                var bytes = own
                bytes[index] ^= 1
                return bytes
            }
            forgeries += [foreign, own.dropLast(), own + [0], own + own, Data(), own.dropFirst(32)]
            test.clock.advance(by: Self.hour)
            for bytes in forgeries {
                _ = try database(test).rows("UPDATE store SET value = ? WHERE key = 'sightings'", [.blob(bytes)])
                try write(test)
                #expect(try rowCount(test) == 1, "\(Array(bytes))")
            }
            _ = try database(test).rows("UPDATE store SET value = ? WHERE key = 'sightings'", [.blob(own)])
            try write(test)
            #expect(try rowCount(test) == 0)
        }
    }

    @Test("A row whose date was edited is not removed: whole again, it opens")
    func editedDate() throws {
        try withKeychain { test in
            let item = try test.handler.add(expiring("a", after: 300 * Self.day))
            let edit = "UPDATE item SET expires = ?"
            _ = try database(test).rows(edit, [.blob(Data(ExpiryDate(seconds: test.clock.now - 1)!.storedBytes))])
            for _ in 0..<3 {
                try write(test)
                test.clock.advance(by: Self.hour)
            }
            _ = try database(test).rows(edit, [.blob(Data(item.expires!.storedBytes))])
            #expect(try test.handler.secret(of: "a") == "secret")
        }
    }

    @Test("A thousand items that expire one after the other go with the first write an hour later")
    func many() throws {
        try withKeychain { test in
            let requests = (0..<1_000).map { TransactionRequest.Step.add(expiring("\($0)", after: Double($0 + 1))) }
            _ = try test.handler.handle(.transaction(TransactionRequest(steps: requests)), from: caller)
            for _ in 0..<200 {
                test.clock.advance(by: 5)
                try write(test)
            }
            #expect(try rowCount(test) == 1_000)
            #expect(try #require(try sightings(test)).count <= Sightings.most * Sighting.byteCount + 16)
            test.clock.advance(by: Self.hour - 1_000 + 5)
            try write(test)
            #expect(try rowCount(test)! < 1_000)
            test.clock.advance(by: 1_000)
            try write(test)
            #expect(try rowCount(test) == 0)
            // Nothing is left to be watched.
            try write(test)
            #expect(try sightings(test) == nil)
        }
    }

    @Test("A hidden item whose name another one has taken is no hindrance to a renewal of keys, an import or a repair")
    func nameTaken() throws {
        try withKeychain { test in
            let old = try test.handler.add(expiring("a", after: 1))
            test.clock.advance(by: 1)
            let new = try test.handler.add(.password("a", secret: "new"))
            try test.setPasscode("1234")
            #expect(try !test.handler.lockStatus().isRekeying)
            #expect(try test.handler.findings().isEmpty)
            #expect(try test.handler.find(.password(limit: .all)).map(\.identifier) == [new.identifier])
            _ = try test.handler.handle(.delete(.password()), from: caller)
            var imported = old
            imported.expires = nil
            imported.identifier = UUID()
            imported.secret = .of("imported")
            _ = try test.handler.handle(.importItems(ImportRequest([imported])), from: .owner)
            #expect(try test.handler.secret(of: "a") == "imported")
            #expect(try rowCount(test) == 2)
            #expect(try test.handler.findings().isEmpty)
        }
        try withClosedStore(
            { engine in
                let clock = try #require(engine.configuration.clock as? TestClock)
                try engine.add(expiring("a", after: 1))
                clock.advance(by: 1)
                try engine.add(.password("a", secret: "new"))
            },
            { store in
                var configuration = EngineConfiguration.test(in: store.directory, clock: TestClock(now: 800_000_001))
                configuration.isDurable = false
                let report = try StoreRepair(configuration).run(passcode: { .of("") }, progress: { _, _ in })
                #expect(report.savedCount == 2 && report.unreadableCount == 0)
                #expect(try store.open { $0.clock = TestClock(now: 800_000_001) }.secret(of: "a") == "new")
            })
    }

    @Test("A person sees what is hidden and deletes it at once, the owner alone, and no item that is there")
    func byAPerson() throws {
        try withKeychain { test in
            let gone = try test.handler.add(expiring("a", after: 1))
            let present = try test.handler.add(expiring("b", after: 2))
            test.clock.advance(by: 1)
            func answer(_ items: [UUID], _ asker: Caller = .owner) throws -> Reply {
                try test.handler.handle(.expiredItems(deleting: items), from: asker)
            }
            guard case .found(let items) = try answer([]) else { throw test.handler.wrongReply }
            #expect(items.map(\.identifier) == [gone.identifier] && items[0].secret == nil)
            #expect(throws: KeychainError.self) { try answer([], caller) }
            #expect(throws: KeychainError.self) { try answer([gone.identifier], caller) }
            guard case .deleted(1) = try answer([gone.identifier, present.identifier]) else {
                throw test.handler.wrongReply
            }
            #expect(try rowCount(test) == 1)
            #expect(try test.handler.secret(of: "b") == "secret")
        }
    }

    @Test("A person deletes what has expired by the clock, and nothing that a later time hides")
    func byTheClock() throws {
        try withKeychain { test in
            let gone = try test.handler.add(expiring("gone", after: 1))
            let hidden = try test.handler.add(expiring("hidden", after: 300 * Self.day))
            test.clock.setAhead(by: Self.decade)
            #expect(isMissing(test, "hidden"))
            test.clock.setBack(by: Self.decade)
            test.clock.advance(by: 1)
            #expect(isMissing(test, "hidden"))
            func answer(_ items: [UUID]) throws -> Reply {
                try test.handler.handle(.expiredItems(deleting: items), from: .owner)
            }
            guard case .found(let items) = try answer([]) else { throw test.handler.wrongReply }
            #expect(items.map(\.identifier) == [gone.identifier])
            guard case .deleted(1) = try answer([gone.identifier, hidden.identifier]) else {
                throw test.handler.wrongReply
            }
            #expect(try rowCount(test) == 1)
        }
    }

    @Test("What a person deletes is counted, also if it would go by itself now")
    func byAPersonLate() throws {
        try withKeychain { test in
            let gone = try test.handler.add(expiring("a", after: 1))
            test.clock.advance(by: 1)
            try write(test)
            test.clock.advance(by: Self.hour)
            let reply = try test.handler.handle(.expiredItems(deleting: [gone.identifier]), from: .owner)
            guard case .deleted(1) = reply else { throw test.handler.wrongReply }
        }
    }

    /// Adds two items of one name, of which the first was hidden when the second came.
    private func addNamesakes(_ handler: any RequestHandler, _ clock: TestClock, secondExpires: Bool) throws {
        try handler.add(expiring("a", after: Self.hour))
        clock.setAhead(by: Self.decade)
        var second = secondExpires ? expiring("a", after: 300 * Self.day) : .password("a")
        second.secret = .of("new")
        try handler.add(second)
        clock.setBack(by: Self.decade)
    }

    @Test(
        "Two items of one name that a clock set back has left are no damage, and outlast renewals of the keys",
        arguments: [true, false])
    func namesakes(_ secondExpires: Bool) throws {
        try withKeychain { test in
            try addNamesakes(test.handler, test.clock, secondExpires: secondExpires)
            try SeenTime(test.configuration).forget()
            test.restart()
            let all = ItemQuery.password(limit: .all)
            func requireBoth() throws {
                #expect(Set(try test.handler.find(all).map { $0.secret?.copyData() }).count == 2)
                let findings = try test.handler.findings()
                #expect(findings.count == 1 && findings[0].severity == .warning && !findings[0].isRepairable)
                #expect(findings.first?.text.contains("have one name") == true, "\(findings)")
            }
            try requireBoth()
            try test.setPasscode("1234")
            #expect(try !test.handler.lockStatus().isRekeying)
            try requireBoth()
            try test.handler.changePasscode(from: "1234", to: "5678", rekey: true)
            #expect(try !test.handler.lockStatus().isRekeying)
            try requireBoth()

            let items = try test.handler.find(all)
            func outcomes(_ other: TestKeychain) throws -> [ImportOutcome] {
                let reply = try other.handler.handle(.importItems(ImportRequest(items)), from: .owner)
                guard case .imported(let outcomes) = reply else { throw other.handler.wrongReply }
                return outcomes
            }
            #expect(try outcomes(test) == [.unchanged, .unchanged])
            // Elsewhere one of the two stays, and the answer says so.
            try withKeychain { other in
                let outcomes = try outcomes(other)
                #expect(outcomes == [.added, .replaced] || outcomes == [.added, .kept])
            }

            let newer = try #require(items.max { $0.created < $1.created })
            var query = ItemQuery.password()
            query.persistentReference = newer.persistentReference
            _ = try test.handler.handle(.delete(query), from: caller)
            let findings = try test.handler.findings()
            let isNameless = findings.contains { $0.text.contains("not have") }
            #expect(findings.allSatisfy { $0.severity == .warning && $0.isRepairable } && findings.count <= 1)
            #expect(isNameless || secondExpires)
        }
    }

    @Test("A repair keeps both items of one name that a clock set back has left", arguments: [true, false])
    func repairOfNamesakes(_ secondExpires: Bool) throws {
        try withClosedStore(
            { engine in
                let clock = try #require(engine.configuration.clock as? TestClock)
                try addNamesakes(engine, clock, secondExpires: secondExpires)
            },
            { store in
                let configuration = EngineConfiguration.test(in: store.directory, clock: TestClock())
                try SeenTime(configuration).forget()
                let report = try StoreRepair(configuration).run(passcode: { .of("") }, progress: { _, _ in })
                #expect(report.savedCount == 2 && report.unreadableCount == 0)
                let engine = try store.open { $0.clock = TestClock() }
                #expect(try engine.find(.password(limit: .all)).count == 2)
                #expect(try engine.findings().map(\.severity) == [.warning])
            })
    }

    @Test("A repair that leaves out an older item of the same name says that one is not there")
    func repairOfEditedName() throws {
        try withClosedStore(
            { try $0.add(.password("a")) },
            { store in
                let path = store.directory.appendingPathComponent("store/keychain.db")
                try TestDatabase(path).run("UPDATE item SET uniqueness = randomblob(16)")
                try store.open().add(.password("a", secret: "new"))
                let configuration = EngineConfiguration.test(in: store.directory)
                let report = try StoreRepair(configuration).run(passcode: { .of("") }, progress: { _, _ in })
                #expect(report.savedCount == 1 && report.unreadableCount == 1)
            })
    }

    @Test("After a repair what has expired is removed as before")
    func repairedStore() throws {
        try withClosedStore(
            { try $0.add(expiring("a", after: 1)) },
            { store in
                let clock = TestClock()
                let configuration = EngineConfiguration.test(in: store.directory, clock: clock)
                _ = try StoreRepair(configuration).run(passcode: { .of("") }, progress: { _, _ in })
                clock.advance(by: 1)
                let engine = try store.open { $0.clock = clock }
                try engine.add(.password("b"))
                clock.advance(by: Self.hour)
                try engine.add(.password("c"))
                guard case .expired(let sweep) = try engine.handle(.removeExpired, from: .owner) else {
                    throw engine.wrongReply
                }
                #expect(sweep.removedCount == 0 && sweep.next == nil)
            })
    }

    @Test("After a restart an item also goes an hour after the first write, where nobody synchronises the clock")
    func restartUnsynchronized() throws {
        try withKeychain { test in
            try test.handler.add(expiring("a", after: 1))
            test.clock.advance(by: 1)
            try write(test)
            test.restart()
            test.clock.advance(by: 60)
            try write(test)
            test.clock.advance(by: Self.hour - 1)
            try write(test)
            #expect(try rowCount(test) == 1)
            test.clock.advance(by: 1)
            try write(test)
            #expect(try rowCount(test) == 0)
        }
    }

    @Test("A thousand locked items that have expired keep no later one from being removed")
    func manyLocked() throws {
        try withKeychain { test in
            try test.setPasscode("1234")
            let requests = (0...1_000).map { TransactionRequest.Step.add(expiring("\($0)", after: 1)) }
            for steps in [requests.prefix(1_000), requests.suffix(1)] {
                _ = try test.handler.handle(.transaction(TransactionRequest(steps: Array(steps))), from: caller)
            }
            var later = expiring("later", after: 2)
            later.accessControl = AccessControl(.always)
            try test.handler.add(later)
            test.restart()
            test.clock.advance(by: 2)
            for _ in 0..<2 {
                for number in 0..<2 {
                    try test.handler.add(.password("\(test.clock.now) \(number)", protection: .always))
                }
                test.clock.advance(by: Self.hour)
            }
            let rows = try database(test).rows("SELECT count(*) AS count FROM item WHERE expires IS NOT NULL")
            #expect(rows.first?["count"]?.number == 1_001)
            // With their keys they go, too, wherever the last look ended.
            try test.unlock("1234")
            for number in 0..<3 { try write(test, number) }
            #expect(try rowCount(test) == 4)
        }
    }

    @Test("The machine's clocks agree with each other and with the file system's")
    func systemClock() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("file").path
            let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            defer { close(file) }
            let clock = SystemClock()
            let (before, reading, after) = (clock.now, clock.reading, clock.now)
            #expect(before - 0.001 <= reading.now && reading.now <= after + 0.001)
            #expect(reading.sinceBoot <= clock.sinceBoot && reading.bootID == clock.bootID)
            let written = try #require(clock.now(byWritingTo: file))
            #expect(abs(written - clock.now) < 300)
            #expect(clock.now(byWritingTo: -1) == nil)
        }
    }
}
