import Foundation
import KeychainModel
import KeychainSalvage
import KeychainTestSupport
import Testing

@testable import KeychainEngine

@Suite struct ExpiryTests {
    private static let day = 86_400.0
    private static let hour = 3_600.0

    private func expiring(_ account: String, after seconds: Double = day, secret: String = "secret") -> AddRequest {
        var request = AddRequest.password(account, secret: secret)
        request.expires = .after(UInt64(seconds * 1_000))
        return request
    }

    private func code(_ body: () throws -> Void) -> KeychainError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? KeychainError)?.code }
    }

    private func isMissing(_ handler: any RequestHandler, _ query: ItemQuery) -> Bool {
        code { _ = try handler.find(query) } == .itemNotFound
    }

    private func rowCount(_ test: TestKeychain) throws -> Int64? {
        try TestDatabase(test.directory.appendingPathComponent("store/keychain.db"))
            .rows("SELECT count(*) AS count FROM item").first?["count"]?.number
    }

    @Test(
        "An item is there until its date, to the millisecond, and then no request meets it",
        arguments: KeychainHost.allCases)
    func isGone(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            let item = try test.handler.add(expiring("a"))
            #expect(item.expires == ExpiryDate(seconds: test.clock.now + Self.day))
            test.clock.advance(by: Self.day - 0.001)
            #expect(try test.handler.find(.password([.account: .text("a")])).first?.expires == item.expires)
            test.clock.advance(by: 0.001)
            var byReference = ItemQuery(.genericPassword)
            byReference.persistentReference = item.persistentReference
            for query in [ItemQuery.password([.account: .text("a")]), .password(limit: .all), byReference] {
                #expect(isMissing(test.handler, query))
                #expect(
                    code {
                        _ = try test.handler.handle(.update(UpdateRequest(query, changes: ItemChanges())), from: caller)
                    } == .itemNotFound)
                #expect(code { _ = try test.handler.handle(.delete(query), from: caller) } == .itemNotFound)
            }
            guard case .status(let status) = try test.handler.handle(.status, from: .owner) else {
                throw test.handler.wrongReply
            }
            #expect(status.itemCounts[.genericPassword] ?? 0 == 0)
            #expect(try allItems(test).isEmpty)
            #expect(try test.handler.findings().isEmpty)
        }
    }

    @Test("An expired item is no duplicate, and the new one has another reference", arguments: KeychainHost.allCases)
    func noDuplicate(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            let old = try test.handler.add(expiring("a"))
            #expect(code { try test.handler.add(.password("a")) } == .duplicateItem)
            test.clock.advance(by: Self.day)
            let new = try test.handler.add(.password("a", secret: "new"))
            #expect(new.identifier != old.identifier && new.expires == nil)
            #expect(try test.handler.secret(of: "a") == "new")
            // The old one has only given up its name.
            #expect(try rowCount(test) == 2)
            test.clock.advance(by: Self.hour)
            try test.handler.add(.password("b"))
            #expect(try rowCount(test) == 2)
            #expect(try test.handler.secret(of: "a") == "new")
            #expect(try test.handler.findings().isEmpty)
        }
    }

    @Test(
        "While locked an expired item is no candidate, and its bytes stay until its date can be told from an edited one",
        arguments: KeychainHost.allCases)
    func locked(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            try test.setPasscode("1234")
            var request = expiring("a")
            request.accessControl = AccessControl(.afterFirstUnlock)
            try test.handler.add(request)
            test.restart()
            #expect(code { _ = try test.handler.find(.password([.account: .text("a")])) } == .interactionNotAllowed)
            test.clock.advance(by: Self.day)
            #expect(isMissing(test.handler, .password([.account: .text("a")])))
            #expect(isMissing(test.handler, .password(limit: .all)))
            // Nobody could tell it from the one that is there, if that was not gone.
            try test.handler.add(.password("a", protection: .always))
            test.clock.advance(by: Self.hour)
            try test.handler.add(.password("b", protection: .always))
            #expect(try rowCount(test) == 3)
            try test.unlock("1234")
            try test.handler.add(.password("c", protection: .always))
            #expect(try rowCount(test) == 3)
        }
    }

    @Test(
        "What has expired goes with the first write an hour after the first that saw it, whatever they write",
        arguments: KeychainHost.allCases)
    func nextWrite(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            for account in ["a", "b", "c"] { try test.handler.add(expiring(account)) }
            try test.handler.add(.password("stays", protection: .always))
            test.clock.advance(by: Self.day)
            try test.handler.add(.password("other", protection: .always))
            #expect(try rowCount(test) == 5)
            test.clock.advance(by: Self.hour - 1)
            try test.handler.add(.password("a third", protection: .always))
            #expect(try rowCount(test) == 6)
            test.clock.advance(by: 1)
            try test.handler.add(.password("a fourth", protection: .always))
            #expect(try rowCount(test) == 4)
            let entries = try TestDatabase(test.directory.appendingPathComponent("store/keychain.db"))
                .rows("SELECT count(*) AS count FROM entry WHERE item NOT IN (SELECT id FROM item)")
            #expect(entries.first?["count"]?.number == 0)
        }
    }

    // A daemon removes by itself, so that nobody can count there.
    @Test(
        "A sweep removes all, says how many, and when the next one is due",
        arguments: [KeychainHost.embedded, .embeddedWithoutKeyring])
    func sweep(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            func sweep() throws -> ExpirySweep {
                guard case .expired(let sweep) = try test.handler.handle(.removeExpired, from: .owner) else {
                    throw test.handler.wrongReply
                }
                return sweep
            }
            #expect(try sweep() == ExpirySweep(removedCount: 0, next: nil))
            let last = try test.handler.add(expiring("last", after: 3 * Self.day))
            let many = TransactionRequest(steps: (0..<2_500).map { .add(expiring("\($0)")) })
            _ = try test.handler.handle(.transaction(many), from: caller)
            #expect(try sweep().removedCount == 0)
            test.clock.advance(by: Self.day)
            let look = try #require(try sweep().next)
            #expect(look == ExpiryDate(milliseconds: ExpiryDate(seconds: test.clock.now + Self.hour)!.milliseconds + 1))
            test.clock.advance(by: Self.hour)
            #expect(try sweep() == ExpirySweep(removedCount: 2_500, next: last.expires))
            #expect(try rowCount(test) == 1)
            test.clock.advance(by: 2 * Self.day)
            #expect(try sweep().removedCount == 0)
            test.clock.advance(by: Self.hour)
            #expect(try sweep() == ExpirySweep(removedCount: 1, next: nil))
        }
    }

    @Test("A daemon removes what has expired, and knows when to look again: within an hour, since the clock may be set")
    func housekeeping() throws {
        try withKeychain { test in
            #expect(try test.engine.removeExpiredIfDue() == nil)
            try test.handler.add(expiring("a", after: 60))
            try test.handler.add(expiring("b"))
            #expect(try test.engine.removeExpiredIfDue() == .seconds(60))
            test.clock.advance(by: 60)
            #expect(try test.engine.removeExpiredIfDue() == .seconds(3_600))
            #expect(try rowCount(test) == 2)
            test.clock.advance(by: Self.hour)
            #expect(try test.engine.removeExpiredIfDue() == .seconds(3_600))
            #expect(try rowCount(test) == 1)
            test.clock.advance(by: Self.day)
            #expect(try test.engine.removeExpiredIfDue() == .seconds(3_600))
            test.clock.advance(by: Self.hour)
            #expect(try test.engine.removeExpiredIfDue() == nil)
            #expect(try rowCount(test) == 0)
        }
    }

    @Test("Of more items than one write removes, none is found")
    func manyAtOnce() throws {
        try withKeychain { test in
            let many = TransactionRequest(steps: (0..<1_200).map { .add(expiring("\($0)")) })
            _ = try test.handler.handle(.transaction(many), from: caller)
            test.clock.advance(by: Self.day)
            // One of them stands in the way.
            try test.handler.add(.password("1199", secret: "new"))
            #expect(try test.handler.find(.password(limit: .all)).map(\.attributes[.account]) == [.text("1199")])
            #expect(try rowCount(test) == 1_201)
            test.clock.advance(by: Self.hour)
            try test.handler.add(.password("another"))
            #expect(try rowCount(test) == 202)
            #expect(try test.handler.findings().isEmpty)
        }
    }

    @Test("An update sets a date, keeps it, and takes it away", arguments: KeychainHost.allCases)
    func update(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            func update(_ expires: ItemExpiry?, secret: String) throws {
                var changes = ItemChanges()
                (changes.expires, changes.secret) = (expires, .of(secret))
                let request = UpdateRequest(.password([.account: .text("a")]), changes: changes)
                _ = try test.handler.handle(.update(request), from: caller)
            }
            func expires() throws -> ExpiryDate? {
                try test.handler.find(.password([.account: .text("a")])).first?.expires
            }
            let moment = try #require(ExpiryDate(seconds: test.clock.now + 60))
            try test.handler.add(.password("a"))
            try update(.at(moment), secret: "1")
            #expect(try expires() == moment)
            try update(nil, secret: "2")
            #expect(try expires() == moment)
            try update(.never, secret: "3")
            #expect(try expires() == nil)
            try update(.after(60_000), secret: "4")
            #expect(try test.handler.secret(of: "a") == "4")
            test.clock.advance(by: 60)
            #expect(isMissing(test.handler, .password([.account: .text("a")])))
        }
    }

    @Test("A date that has passed, or that calendars do not show, is refused, and nothing is changed")
    func impossibleDates() throws {
        try withKeychain { test in
            let past = try #require(ExpiryDate(seconds: test.clock.now))
            for expiry in [ItemExpiry.at(past), .at(.earliest), .after(0), .after(.max), .after(1 << 62)] {
                var request = AddRequest.password("a")
                request.expires = expiry
                #expect(code { try test.handler.add(request) } == .parameter, "\(expiry)")
            }
            #expect(isMissing(test.handler, .password()))
            #expect(ExpiryDate(seconds: .nan) == nil && ExpiryDate(seconds: .infinity) == nil)
            #expect(ExpiryDate(seconds: -978_307_200.001) == nil && ExpiryDate(seconds: 1e18) == nil)
        }
    }

    @Test("A clock that is set back brings back nothing that was missed once", arguments: KeychainHost.allCases)
    func clockSetBack(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            try test.handler.add(expiring("a"))
            try test.handler.add(expiring("later", after: 3 * Self.day))
            test.clock.advance(by: Self.day)
            // Reading alone: the bytes stay, unless a daemon's housekeeper was here first.
            #expect(isMissing(test.handler, .password([.account: .text("a")])))
            if host != .daemon { #expect(try rowCount(test) == 2) }
            test.clock.setBack(by: 2 * Self.day)
            #expect(isMissing(test.handler, .password([.account: .text("a")])))
            #expect(try test.handler.secret(of: "later") == "secret")
            guard host != .daemon else { return }
            // Another program, which begins only then, and after a restart of the system.
            test.clock.restart()
            let other = try Engine(test.configuration)
            #expect(isMissing(other, .password([.account: .text("a")])))
            #expect(try other.secret(of: "later") == "secret")
        }
    }

    @Test(
        "After a clock that was far ahead, nothing is stored that would be gone at once, and an error says what to do")
    func clockFarAhead() throws {
        try withKeychain { test in
            try test.handler.add(expiring("seen", after: 3_650 * Self.day))
            test.clock.advance(by: 3_650 * Self.day)
            #expect(isMissing(test.handler, .password([.account: .text("seen")])))
            test.clock.setBack(by: 3_650 * Self.day)
            let error = #expect(throws: KeychainError.self) { try test.handler.add(expiring("new")) }
            #expect(error?.code == .parameter && error?.message.contains("doctor --repair") == true)
            try test.handler.add(.password("without a date"))
            try test.handler.add(expiring("later", after: 3_651 * Self.day))
            try SeenTime(test.configuration).forget()
            try Engine(test.configuration).add(expiring("new"))
            #expect(try Engine(test.configuration).secret(of: "seen") == "secret")
        }
    }

    @Test("Before the first unlock an item with a date that is none is locked, and not missing")
    func malformedDate() throws {
        try withKeychain { test in
            try test.setPasscode("1234")
            var request = expiring("a")
            request.accessControl = AccessControl(.afterFirstUnlock)
            try test.handler.add(request)
            test.restart()
            let database = try TestDatabase(test.directory.appendingPathComponent("store/keychain.db"))
            for value in ["CAST(expires AS TEXT)", "x'00'", "1", "''"] {
                try database.run("UPDATE item SET expires = \(value)")
                #expect(code { _ = try test.handler.find(.password([.account: .text("a")])) } == .interactionNotAllowed)
                #expect(code { try test.handler.add(.password("a", protection: .always)) } == .interactionNotAllowed)
                _ = try test.handler.handle(.removeExpired, from: .owner)
                #expect(try rowCount(test) == 1)
            }
        }
    }

    @Test("No damage of the lock record makes an item expire", arguments: 0..<LockRecord.byteCount)
    func damagedRecord(_ offset: Int) throws {
        try withKeychain { test in
            try test.handler.add(expiring("a"))
            try test.handler.add(expiring("b", after: 1))
            test.clock.advance(by: 1)
            #expect(isMissing(test.handler, .password([.account: .text("b")])))
            let file = test.directory.appendingPathComponent("store/lock-state")
            var bytes = try Data(contentsOf: file)
            bytes[offset] ^= 0x7f
            try bytes.write(to: file)
            #expect(try Engine(test.configuration).secret(of: "a") == "secret")
        }
    }

    @Test("A renewal of keys keeps the date, and the item expires behind the passcode")
    func renewal() throws {
        try withKeychain { test in
            let item = try test.handler.add(expiring("a"))
            try test.setPasscode("1234")
            try test.handler.changePasscode(from: "1234", to: "5678", rekey: true)
            #expect(try test.handler.find(.password()).first?.expires == item.expires)
            test.clock.advance(by: Self.day)
            #expect(isMissing(test.handler, .password()))
            try test.handler.changePasscode(from: "5678", to: "1234", rekey: true)
            #expect(try rowCount(test) == 1)
            test.clock.advance(by: Self.hour)
            try test.handler.add(.password("b"))
            #expect(try rowCount(test) == 1)
            #expect(try test.handler.findings().isEmpty)
        }
    }

    @Test("An export has the date, and an import leaves out what has expired since")
    func exportAndImport() throws {
        let exported = try withKeychain { test -> [Item] in
            let item = try test.handler.add(expiring("a"))
            let items = try allItems(test)
            #expect(items.map(\.expires) == [item.expires])
            return items
        }
        try withKeychain { (test: TestKeychain) throws in
            #expect(try merge(exported, test) == [.added])
            #expect(try test.handler.find(.password()).map(\.expires) == exported.map(\.expires))
            #expect(try merge(exported, test) == [.unchanged])
            test.clock.advance(by: Self.day)
            #expect(try merge(exported, test) == [.expired])
            #expect(isMissing(test.handler, .password()))
        }
    }

    private func allItems(_ test: TestKeychain) throws -> [Item] {
        guard case .exported(let part) = try test.handler.handle(.exportItems(ExportRequest()), from: .owner) else {
            throw test.handler.wrongReply
        }
        return part.items
    }

    private func merge(_ items: [Item], _ test: TestKeychain) throws -> [ImportOutcome] {
        guard case .imported(let outcomes) = try test.handler.handle(.importItems(ImportRequest(items)), from: .owner)
        else {
            throw test.handler.wrongReply
        }
        return outcomes
    }
}

/// Somebody edits the date of an item, and has no key.
@Suite struct EditedExpiryTests {
    private static let moment = ExpiryDate(seconds: 800_086_400)!  // a day after the test clock's beginning

    private func withItem<R>(_ body: (ClosedStore) throws -> R) throws -> R {
        try withClosedStore(
            { engine in
                var request = AddRequest.password("ann")
                request.expires = .at(Self.moment)
                try engine.add(request)
                try engine.add(.password("bob", secret: "bob's"))
            }, body)
    }

    private func expectRefused(_ store: ClosedStore, _ what: String) throws {
        let engine = try store.open()
        let error = #expect(throws: KeychainError.self) { try engine.secret(of: "ann") }
        #expect(error?.code == .itemNotFound, "\(what)")
        #expect(try !engine.findings().isEmpty, "\(what)")
        #expect(try engine.secret(of: "bob") == "bob's")
    }

    @Test("A date that is put off, or taken away, is tampering, and so is one that is given to an item without")
    func edited() throws {
        let later = Data(ExpiryDate(seconds: 900_000_000)!.storedBytes)
        try withItem { store in
            try store.edit("UPDATE item SET expires = ? WHERE id = 1", [.blob(later)])
            try expectRefused(store, "put off")
            try store.edit("UPDATE item SET expires = NULL WHERE id = 1")
            try expectRefused(store, "taken away")
        }
        try withItem { store in
            try store.edit("UPDATE item SET expires = ? WHERE id = 2", [.blob(later)])
            let engine = try store.open()
            #expect(throws: KeychainError.self) { try engine.secret(of: "bob") }
            #expect(try !engine.findings().isEmpty)
        }
    }

    @Test(
        "A damaged index of the dates leads to no other row's removal, and ends no removal",
        arguments: [1, 77] as [UInt8])
    func damagedIndex(_ row: UInt8) throws {
        try withClosedStore({ engine in
            try engine.add(.password("bob", secret: "bob's"))
            var request = AddRequest.password("ann")
            request.expires = .at(Self.moment)
            try engine.add(request)
        }) { store in
            try store.checkpointWithoutTruncating()
            // A record of two values, the 16 bytes and the number of a row, which fits into one byte.
            let entry = Data([3, 0x2c, 1]) + Self.moment.storedBytes
            var file = try Data(contentsOf: store.database)
            let place = try #require(file.range(of: entry + [2])?.upperBound)
            file[place - 1] = row
            try file.write(to: store.database, options: [])
            let clock = TestClock(now: Self.moment.seconds)
            let engine = try store.open { $0.clock = clock }
            try engine.add(.password("new"))
            clock.advance(by: 3_600)
            guard case .expired(let sweep) = try engine.handle(.removeExpired, from: .owner) else {
                throw engine.wrongReply
            }
            #expect(sweep.removedCount == 0)
            #expect(try engine.secret(of: "bob") == "bob's")
            #expect(throws: KeychainError.self) { try engine.secret(of: "ann") }
        }
    }

    @Test("A repair saves the date, and what has expired too, which stays hidden")
    func repair() throws {
        try withItem { store in
            let clock = TestClock()
            func repair() throws -> RepairReport {
                var configuration = EngineConfiguration.test(in: store.directory, clock: clock)
                configuration.isDurable = false
                return try StoreRepair(configuration).run(passcode: { .of("") }, progress: { _, _ in })
            }
            #expect(try repair().savedCount == 2)
            #expect(
                try store.open().find(.password([.account: .text("ann")])).first?.expires == Self.moment)
            clock.advance(by: 86_400)
            let report = try repair()
            #expect(report.savedCount == 2 && report.unreadableCount == 0)
            let engine = try store.open { $0.clock = clock }
            #expect(throws: KeychainError.self) { try engine.secret(of: "ann") }
            clock.setBack(by: 86_400)
            try SeenTime(EngineConfiguration.test(in: store.directory, clock: clock)).forget()
            #expect(try store.open { $0.clock = clock }.secret(of: "ann") == "secret")
        }
    }

    @Test("A damaged date hides its item and destroys nothing: whole again, the item is there")
    func damaged() throws {
        try withItem { store in
            let whole = Data(Self.moment.storedBytes)
            var damaged: [Data] = whole.indices.map { index in
                var bytes = whole
                bytes[index] ^= 0xff
                return bytes
            }
            damaged += [
                Data(), whole.dropLast(), whole + [0], Data(repeating: 0, count: 16), Data(repeating: 0xff, count: 16),
            ]
            for bytes in damaged {
                try store.edit("UPDATE item SET expires = ? WHERE id = 1", [.blob(bytes)])
                try expectRefused(store, "\(Array(bytes))")
                let engine = try store.open()
                try engine.add(.password("passing"))
                _ = try engine.handle(.delete(.password([.account: .text("passing")])), from: caller)
                _ = try engine.handle(.removeExpired, from: .owner)
            }
            for value in ["0", "5.5", "'text of 16 bytes'"] {
                try store.edit("UPDATE item SET expires = \(value) WHERE id = 1")
                try expectRefused(store, value)
                _ = try store.open().handle(.removeExpired, from: .owner)
            }
            try store.edit("UPDATE item SET expires = ? WHERE id = 1", [.blob(whole)])
            #expect(try store.open().secret(of: "ann") == "secret")
        }
    }
}
