import Foundation
import KeychainCrypto
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// How the items of an export are merged into a store.
@Suite struct ImportTests {
    /// What is in a store, all of it.
    private func content(_ engine: Engine) throws -> Set<[String]> { try engine.exportAll().items.described }

    // MARK: Without a conflict

    @Test("Into an empty store with another device key everything comes back as it was: references, dates, groups")
    func anotherStore() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            for itemClass in ItemClass.stored {
                var request = AddRequest(itemClass)
                request.accessGroup = "group of \(itemClass)"
                request.synchronizable = itemClass == .genericPassword
                request.attributes[.label] = .data(Data([0, 0xff, 0xfe]))
                request.secret = SecretBytes(copying: Data([0, 1, 0xff]))
                try engine.add(request, as: .owner)
                keychain.clock.advance(by: 10)
            }
            try engine.add(.password("none", secret: nil), as: .owner)
            let items = try engine.exportAll().items
            try withKeychain { other throws in
                #expect(try other.engine.merge(items) == items.map { _ in .added })
                #expect(try content(other.engine) == items.described)
                #expect(try other.engine.findings().isEmpty)
                var query = ItemQuery(.certificate)
                query.persistentReference = items.first { $0.itemClass == .certificate }?.persistentReference
                query.synchronizable = .any
                #expect(try other.engine.find(query, as: .owner).count == 1)
            }
        }
    }

    @Test("A second import changes nothing, not one byte of a row")
    func idempotent() throws {
        try withKeychain { keychain in
            let items = [Item.password("a"), .password("b")]
            #expect(try keychain.engine.merge(items) == [.added, .added])
            let rows = try keychain.engine.databaseRows()
            #expect(try keychain.engine.merge(items) == [.unchanged, .unchanged])
            #expect(try keychain.engine.databaseRows() == rows)
        }
    }

    @Test("What is not in conflict is not touched")
    func nothingDeleted() throws {
        try withKeychain { keychain in
            let present = [Item.password("a"), .password("b")]
            _ = try keychain.engine.merge(present)
            let rows = try keychain.engine.databaseRows()
            #expect(try keychain.engine.merge([.password("c")]) == [.added])
            let after = try keychain.engine.databaseRows()
            #expect(Array(after.prefix(2)) == rows)
        }
    }

    // MARK: The newer one stays

    @Test("An item that is newer takes the place of the older one, and brings its reference and dates")
    func newer() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            _ = try engine.merge([.password("a", secret: "old", modified: 1000)])
            let new = Item.password("a", secret: "new", modified: 1001)
            #expect(try engine.merge([new]) == [.replaced])
            #expect(try content(engine) == [new].described)
            #expect(try engine.secret(of: "a") == "new")
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("An item that is older is not taken")
    func older() throws {
        try withKeychain { keychain in
            let present = Item.password("a", secret: "present", modified: 1000)
            _ = try keychain.engine.merge([present])
            #expect(try keychain.engine.merge([.password("a", secret: "old", modified: 999)]) == [.kept])
            #expect(try content(keychain.engine) == [present].described)
        }
    }

    @Test("Of two from the same moment the one with the smaller digest stays, whichever is imported into which store")
    func tie() throws {
        let items = [Item.password("a", secret: "one"), .password("a", secret: "two")]
        let digests = try items.map { try ExportedItem.digest(of: $0) }
        let winner = digests[0].lexicographicallyPrecedes(digests[1]) ? items[0] : items[1]
        for order in [items, items.reversed()] {
            try withKeychain { keychain in
                _ = try keychain.engine.merge([order[0]])
                let outcome = try keychain.engine.merge([order[1]])
                #expect(outcome == [order[0].identifier == winner.identifier ? .kept : .replaced])
                #expect(try content(keychain.engine) == [winner].described)
            }
        }
    }

    @Test("An item with the reference of another one is in conflict with it, whatever either is about")
    func sameReference() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            let present = Item.password("a", modified: 1000)
            _ = try engine.merge([present])
            let older = Item.password("b", modified: 999).with { $0.identifier = present.identifier }
            #expect(try engine.merge([older]) == [.kept])
            let newer = Item.password("b", modified: 1001).with {
                $0.identifier = present.identifier
                $0.itemClass = .key
                $0.attributes = [.label: .text("a key")]
            }
            #expect(try engine.merge([newer]) == [.replaced])
            #expect(try engine.exportAll().items.map(\.itemClass) == [.key])
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("Halves of a row that was replaced under its reference do not go with the new ones")
    func version() throws {
        try withKeychain { keychain in
            let present = Item.password("a", secret: "old", modified: 1000)
            _ = try keychain.engine.merge([present])
            let old = try #require(try keychain.engine.databaseRows().first)
            _ = try keychain.engine.merge([present.with { ($0.modified, $0.secret) = (1001, .of("new")) }])
            let new = try #require(try keychain.engine.databaseRows().first)
            #expect(old["version"] == 1 && new["version"] == 2)
            #expect(old["id"] == new["id"])
            try ClosedStore(directory: keychain.directory).edit(
                "UPDATE item SET secret = ?, secret_key = ?",
                [try #require(old["secret"]), try #require(old["secret_key"])])
            #expect(try keychain.engine.exportAll().leftOut.unreadable == 1)
        }
    }

    @Test(
        "One that is in conflict with two items takes the place of both or of none",
        arguments: [(900.0, ImportOutcome.kept), (1000.5, .kept), (1002, .replaced)])
    func doubleConflict(modified: Double, outcome: ImportOutcome) throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            let (one, two) = (Item.password("a", modified: 1000), Item.password("b", modified: 1001))
            let bystander = Item.password("c", modified: 1)
            _ = try engine.merge([one, two, bystander])
            // The reference of the one, the unique attributes of the other.
            let item = Item.password("b", secret: "new", modified: modified).with {
                $0.identifier = one.identifier
            }
            #expect(try engine.merge([item]) == [outcome])
            let expected = outcome == .replaced ? [item, bystander] : [one, two, bystander]
            #expect(try content(engine) == expected.described)
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("The same item under the other index key is in conflict too", arguments: [999.0, 1001])
    func otherTier(modified: Double) throws {
        try withKeychain { keychain in
            let present = Item.password("a", modified: 1000, protection: .always)
            _ = try keychain.engine.merge([present])
            let item = Item.password("a", modified: modified, protection: .whenUnlocked)
            #expect(try keychain.engine.merge([item]) == [modified > 1000 ? .replaced : .kept])
            #expect(try content(keychain.engine) == [modified > 1000 ? item : present].described)
        }
    }

    @Test("What is here and never leaves the device, or asks for authentication, gives way only to what is newer")
    func notExportable() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            var constrained = AddRequest.password("asks")
            constrained.accessControl = try AccessControl(.whenUnlocked, flags: .userPresence)
            let present = [
                try engine.add(constrained), try engine.add(.password("b", protection: .alwaysThisDeviceOnly)),
            ]
            let now = keychain.clock.now
            let items = ["asks", "b"].map { account in
                Item.password(account, modified: now - 1).with { $0.accessGroup = present[0].accessGroup }
            }
            #expect(try engine.merge(items) == [.kept, .kept])
            #expect(try engine.exportAll().leftOut.total == 2)
            #expect(try engine.merge(items.map { $0.with { $0.modified = now + 1 } }) == [.replaced, .replaced])
            #expect(try engine.exportAll().leftOut.total == 0)
        }
    }

    @Test("A row that does not open gives way, to its own earlier self too")
    func damagedRow() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory)
            let item = Item.password("a", modified: 1000)
            try mergeAndClose(store, [item])
            try store.edit("UPDATE item SET secret = zeroblob(length(secret))")
            let engine = try store.open()
            #expect(try engine.merge([item], isDryRun: true) == [.replaced])
            #expect(try engine.merge([item]) == [.replaced])
            #expect(try content(engine) == [item].described)
            #expect(try engine.findings().isEmpty)
        }
    }

    private func mergeAndClose(_ store: ClosedStore, _ items: [Item]) throws {
        _ = try store.open().merge(items)
    }

    // MARK: What is no item

    @Test("What no keychain can have exported is left out, and the others are taken")
    func refused() throws {
        try withKeychain { keychain in
            let good = Item.password("good")
            let bad: [Item] = [
                good.with { $0.accessGroup = "" }, good.with { $0.accessGroup = Caller.tokenGroup },
                good.with { $0.itemClass = .identity }, good.with { $0.modified = .nan },
                good.with { $0.created = .infinity },
                // It would win over every later change.
                good.with { $0.modified = 1e300 },
                good.with { $0.accessControl = AccessControl(.whenUnlockedThisDeviceOnly) },
                try good.with { $0.accessControl = try AccessControl(.whenUnlocked, flags: .biometryAny) },
                good.with { $0.attributes[.server] = .text("no password has one") },
                good.with { $0.attributes[.creator] = .data(Data([1])) },
                good.with { $0.attributes[.tokenID] = .text("token") },
                good.with { $0.attributes.append(.account, .text("twice")) },
                good.with { $0.secret = SecretBytes(count: Item.mostBytes) { _ in } },
            ]
            let outcomes = try keychain.engine.merge(bad + [good])
            #expect(outcomes == bad.map { _ in .refused } + [.added])
            #expect(try content(keychain.engine) == [good].described)
        }
    }

    // MARK: Dry run

    @Test("A dry run changes nothing, and says what the import then does")
    func dryRun() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            let present = [Item.password("newer"), .password("older"), .password("same"), .password("two")]
            _ = try engine.merge(present)
            let items = [
                Item.password("newer", secret: "x", modified: 1001),
                .password("older", modified: 999), present[2], .password("added"),
                .password("two", modified: 1002).with { $0.identifier = present[0].identifier },
                .password("added", secret: "again", modified: 1003), .password("bad").with { $0.accessGroup = "" },
                .password("gone").with { $0.expires = .earliest },
            ]
            let rows = try engine.databaseRows()
            let foretold = try engine.merge(items, isDryRun: true)
            #expect(try engine.databaseRows() == rows)
            #expect(try engine.generations().homes == [1])
            let done = try engine.merge(items)
            #expect(foretold == done)
            #expect(Set(done) == Set(ImportOutcome.allCases))
            #expect(try engine.databaseRows() != rows)
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("A batch that fails is not there at all")
    func atomic() throws {
        try withKeychain { keychain in
            try keychain.setPasscode("1234")
            try keychain.lock()
            let items = [Item.password("dk", protection: .always), .password("ak")]
            for isDryRun in [true, false] {
                let error = #expect(throws: KeychainError.self) {
                    try keychain.engine.merge(items, isDryRun: isDryRun)
                }
                #expect(error?.code == .interactionNotAllowed)
            }
            try keychain.unlock("1234")
            #expect(try content(keychain.engine).isEmpty)
            #expect(try keychain.engine.merge(items) == [.added, .added])
        }
    }

    // MARK: Keys

    @Test("While keys are renewed an import finds what is in the way under either, and its items are renewed too")
    func duringRenewal() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            for number in 0..<600 { try engine.add(.password("\(number)")) }
            let before = try engine.exportAll().items
            var reply = try engine.handle(.passcode(.set(.of("1234"))), from: .owner)
            reply = try engine.handle(.rekeyStep, from: .owner)
            #expect(try engine.generations().rows == [1, 2])
            #expect(try engine.merge(before).allSatisfy { $0 == .unchanged })
            let newer = before.map { item in item.with { ($0.modified, $0.identifier) = ($0.modified + 1, UUID()) } }
            #expect(try engine.merge(newer).allSatisfy { $0 == .replaced })
            #expect(try engine.merge([.password("new")]) == [.added])
            try engine.finishRekey(after: reply)
            #expect(try engine.generations().rows == [2])
            #expect(try engine.exportAll().items.count == 601)
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("Before the first unlock nothing is imported that may be in conflict with what cannot be seen")
    func beforeFirstUnlock() throws {
        try withKeychain { keychain in
            try keychain.engine.add(.password("a"))
            try keychain.setPasscode("1234")
            keychain.restart()
            let engine = try Engine(keychain.configuration)
            let error = #expect(throws: KeychainError.self) {
                try engine.merge([.password("a", protection: .always)])
            }
            #expect(error?.code == .interactionNotAllowed)
        }
    }

    @Test("Nothing of an imported item lies on the disk in clear")
    func needles() throws {
        try withKeychain { keychain in
            _ = try keychain.engine.merge([.password("needle-account", secret: "needle-secret")])
            for file in try ClosedStore(directory: keychain.directory).files {
                let bytes = try Data(contentsOf: file)
                for needle in ["needle-account", "needle-secret"] { #expect(bytes.range(of: Data(needle.utf8)) == nil) }
            }
        }
    }
}
