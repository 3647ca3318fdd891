import Foundation
import Glibc
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// Stores that earlier versions made open for ever, with everything that is in them.
@Suite struct OldStoreTests {
    private static let fixtures = Repository.file("Tests/Fixtures")

    private static let all =
        ["store-v1", "store-v2"].flatMap { version in
            ["plain", "passcode", "killed", "renewal"].map { "\(version)/\($0)" }
        } + ["keybag-2"]

    @Test("Every item of an old store comes out as it was put in", arguments: all)
    func contents(name: String) throws {
        try withFixture(name) { engine, manifest in
            try expectItems(manifest, in: engine)
            // That a renewal of keys is under way is a warning.
            #expect(try engine.findings().allSatisfy { $0.severity != .damage })
            // What a renewal of keys left to do is done as for any store.
            try finishRenewal(engine)
            try expectItems(manifest, in: engine)
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("Items of an old store are found by what they hold, in their own group alone", arguments: all)
    func searches(name: String) throws {
        try withFixture(name) { engine, manifest in
            for item in manifest.items {
                let query = try query(for: item)
                #expect(try texts(engine.find(query, as: caller)) == [item.text])
                let stranger = Caller(groups: ["a group of nobody"])
                #expect(throws: KeychainError.self) { try engine.find(query, as: stranger) }
            }
            for account in manifest.constrained {
                var query = ItemQuery.password([.account: .text(account)])
                query.authenticationUI = .fail
                let error = #expect(throws: KeychainError.self) { try engine.find(query, as: caller) }
                #expect(error?.code == .interactionNotAllowed)
            }
        }
    }

    @Test("An old store is added to, and its items are changed and deleted", arguments: all)
    func changes(name: String) throws {
        try withFixture(name) { engine, manifest in
            try engine.add(.password("new"), as: caller)
            #expect(try engine.secret(of: "new", as: caller) == "secret")
            for item in manifest.items {
                let query = try exact(item)
                #expect(throws: KeychainError.self) { try engine.add(try request(for: item), as: caller) }
                var changes = ItemChanges()
                changes.secret = .of("changed")
                _ = try engine.handle(.update(UpdateRequest(query, changes: changes)), from: caller)
                let changed = try #require(try engine.find(query, as: caller).first)
                #expect(changed.secret?.copyData() == Data("changed".utf8))
                #expect(changed.created == item.created && changed.modified > item.modified)
                _ = try engine.handle(.delete(query), from: caller)
                #expect(throws: KeychainError.self) { try engine.find(query, as: caller) }
                try engine.add(try request(for: item), as: caller)
            }
            for account in manifest.constrained {
                _ = try engine.handle(.delete(.password([.account: .text(account)])), from: caller)
            }
            try finishRenewal(engine)
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("The keys of files of an old store open, and one class of them for the time after a lock that it has")
    func fileKeys() throws {
        try withFixture("keybag-2") { engine, manifest in
            let known = try #require(manifest.fileKeys)
            let keys = try known.map { text, key in
                FileKey(wrapped: try #require(WrappedFileKey(text: text)), key: SecretBytes(copying: key))
            }
            #expect(Set(keys.map(\.wrapped.fileClass)) == Set(FileClass.allCases) && keys.count == 10)
            expectKeys(keys, in: engine)
            _ = try engine.handle(.lock(.withGrace), from: .owner)
            let clock = try #require(engine.configuration.clock as? TestClock)
            clock.advance(by: 3599)
            expectKeys(keys, in: engine) { $0.wrapped.fileClass.tier == .whenUnlocked ? .interactionNotAllowed : nil }
            clock.advance(by: 1)
            expectKeys(keys, in: engine) {
                [.always, .afterFirstUnlock].contains($0.wrapped.fileClass.tier) ? nil : .interactionNotAllowed
            }
        }
    }

    @Test("Items of the present format have their dates of expiry, and expire by them")
    func expiry() throws {
        try withFixture("store-v2/plain") { engine, manifest in
            let dates = manifest.items.compactMap(\.expires)
            #expect(dates == [7e9, 7e9 + 0.001])
            let clock = try #require(engine.configuration.clock as? TestClock)
            clock.advance(by: 7e9 - clock.now)
            #expect(throws: KeychainError.self) {
                try engine.find(.password([.account: .text("expiring")]), as: caller)
            }
            #expect(try !engine.find(.password([.account: .text("expiring later")]), as: caller).isEmpty)
        }
    }

    @Test("A store that was made without any injection has scrypt's parameters of the documents")
    func productionCost() throws {
        let keybag = try Data(contentsOf: Self.fixtures.appendingPathComponent("store-v1/passcode/store/keybag"))
        // Cost, block size and parallelism follow 39 bytes of header (docs/keybag-format.md).
        #expect(keybag[39..<48].elementsEqual([17, 0, 0, 0, 8, 0, 0, 0, 1]))
    }

    @Test("A store whose last writes are in the log alone is a fixture too")
    func fixtureHasLog() throws {
        for name in Self.all {
            let directory = Self.fixtures.appendingPathComponent(name)
            let manifest = try FixtureManifest(contentsOf: directory.appendingPathComponent(FixtureManifest.fileName))
            let log = directory.appendingPathComponent("store/keychain.db-wal")
            let size = try FileManager.default.fileExists(atPath: log.path) ? Data(contentsOf: log).count : 0
            #expect(manifest.hasLog == (size > 0))
            #expect(manifest.items.count > 20)
        }
        // Without its log such a store lacks what was written last: so the log is read.
        try withFixture("store-v1/killed", removing: "store/keychain.db-wal") { engine, manifest in
            let query = ItemQuery.password([.account: .text("in the log")])
            #expect(manifest.items.contains { $0.secret == Data("updated in the log".utf8) })
            #expect(throws: KeychainError.self) { try engine.find(query, as: caller) }
        }
    }
}

// MARK: - Fixtures

extension OldStoreTests {
    private var caller: Caller { Caller(groups: ["group", "other"]) }

    /// A copy of the fixture, opened and unlocked.
    private func withFixture(
        _ name: String, removing file: String? = nil, _ body: (Engine, FixtureManifest) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            let copy = directory.appendingPathComponent("fixture")
            try FileManager.default.copyItem(at: Self.fixtures.appendingPathComponent(name), to: copy)
            try makePrivate(copy)
            if let file { try FileManager.default.removeItem(at: copy.appendingPathComponent(file)) }
            let manifest = try FixtureManifest(contentsOf: copy.appendingPathComponent(FixtureManifest.fileName))
            let engine = try Engine(.test(in: copy, clock: TestClock(now: 900_000_000), usesKeyring: false))
            if let passcode = manifest.passcode {
                #expect(throws: KeychainError.self, "what needs a passcode opens without") {
                    try engine.find(.password([.account: .text("ak")]), as: caller)
                }
                _ = try engine.handle(.unlock(.of(passcode)), from: .owner)
            }
            try body(engine, manifest)
        }
    }

    /// A clone has not the modes that a store must have.
    private func makePrivate(_ directory: URL) throws {
        for path in [""] + (try FileManager.default.subpathsOfDirectory(atPath: directory.path)) {
            let file = directory.appendingPathComponent(path)
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory)
            #expect(chmod(file.path, isDirectory.boolValue ? 0o700 : 0o600) == 0)
        }
    }

    private func finishRenewal(_ engine: Engine) throws {
        guard try engine.lockStatus().isRekeying else { return }
        try engine.finishRekey(after: try engine.handle(.rekeyStep, from: .owner))
        #expect(try !engine.lockStatus().isRekeying)
    }

    private func expectItems(_ manifest: FixtureManifest, in engine: Engine) throws {
        var found: [Item] = []
        for itemClass in Set(manifest.items.map(\.itemClass)) {
            var query = ItemQuery(try #require(ItemClass(rawValue: itemClass)))
            query.limit = .all
            query.synchronizable = .any
            query.authenticationUI = .skip
            found += try engine.find(query, as: .owner)
        }
        #expect(try texts(found).sorted() == manifest.items.map { try $0.text }.sorted())
        for item in manifest.items { #expect(try texts(engine.find(exact(item), as: caller)) == [item.text]) }
    }

    private func texts(_ items: [Item]) throws -> [String] {
        try items.map { try FixtureManifest.Item($0, secret: $0.secret).text }
    }

    /// By persistent reference.
    private func exact(_ item: FixtureManifest.Item) throws -> ItemQuery {
        let reference = try PersistentReference(data: item.reference)
        var query = ItemQuery(reference.itemClass)
        query.persistentReference = reference
        query.synchronizable = .any
        return query
    }

    /// By every attribute.
    private func query(for item: FixtureManifest.Item) throws -> ItemQuery {
        var query = ItemQuery(try #require(ItemClass(rawValue: item.itemClass)))
        for value in item.attributes {
            let attribute = try #require(Attribute(value.code))
            query.attributes[attribute] = value.value
        }
        query.accessGroup = item.accessGroup
        query.protection = Protection(rawValue: item.protection)
        query.synchronizable = item.synchronizable ? .yes : .no
        query.created = item.created
        query.modified = item.modified
        query.limit = .all
        return query
    }

    private func request(for item: FixtureManifest.Item) throws -> AddRequest {
        let query = try query(for: item)
        var request = AddRequest(query.itemClass)
        request.attributes = query.attributes
        request.accessGroup = query.accessGroup
        request.synchronizable = item.synchronizable
        request.accessControl = query.protection.map { AccessControl($0) }
        request.secret = item.secret.map { SecretBytes(copying: $0) }
        return request
    }
}
