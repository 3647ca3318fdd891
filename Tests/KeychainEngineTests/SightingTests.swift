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
                _ = try test.handler.handle(.removeExpired, from: caller)
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
