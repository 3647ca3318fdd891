import Foundation
import KeychainModel
import KeychainSalvage
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// A store of one version, and programs of another.
@Suite struct SchemaTests {
    private func configuration(_ store: ClosedStore, _ schema: StoreSchema) -> EngineConfiguration {
        var configuration = EngineConfiguration.test(in: store.directory)
        configuration.schema = schema
        return configuration
    }

    private func withStore<R>(_ body: (ClosedStore) throws -> R) throws -> R {
        try withClosedStore(
            { engine in for number in 0..<40 { try engine.add(.password("\(number)", secret: "secret of \(number)")) }
            },
            body)
    }

    private func expectUpgraded(_ store: ClosedStore) throws {
        #expect(try store.value("PRAGMA user_version") == 3)
        #expect(try store.value("SELECT count(*) FROM item JOIN later ON later.uuid = item.uuid AND later = id") == 40)
        let engine = try Engine(configuration(store, .next))
        #expect(try engine.find(.password(limit: .all)).count == 40)
        #expect(try engine.secret(of: "17") == "secret of 17")
        #expect(try engine.findings().isEmpty)
    }

    private func expectUpgradedByOpening(_ store: ClosedStore) throws {
        _ = try Engine(configuration(store, .next))
        try expectUpgraded(store)
    }

    @Test("An older store is brought up to the present version, with everything in it")
    func upgrade() throws {
        try withStore { store in
            let engine = try Engine(configuration(store, .next))
            try engine.add(.password("new"))
            _ = try engine.handle(.delete(.password([.account: .text("new")])), from: caller)
            guard case .status(let status) = try engine.handle(.status, from: caller) else {
                Issue.record("another answer")
                return
            }
            #expect(status.schemaVersion == 3)
            try expectUpgraded(store)
            let error = #expect(throws: KeychainError.self) { try store.open() }
            #expect(error?.code == .notAvailable && error?.message.contains(OwnProgram.isTooOld) == true)
        }
    }

    /// The list of steps that early programs kept in each store.
    private static let formerStepList = "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);"

    @Test("The list of steps that early programs kept stays as it is, and is not made anew", arguments: [true, false])
    func formerList(isThere: Bool) throws {
        try withStore { store in
            if isThere { try store.edit("\(Self.formerStepList) INSERT INTO grdb_migrations VALUES ('1: items')") }
            try expectUpgradedByOpening(store)
            let lists = try store.value("SELECT count(*) FROM sqlite_master WHERE name = 'grdb_migrations'")
            #expect(lists == (isThere ? 1 : 0))
            if isThere {
                #expect(try store.value("SELECT group_concat(identifier) FROM grdb_migrations") == .text("1: items"))
            }
        }
    }

    @Test(
        "A list of steps with one that is not known is of a newer version if its number is higher, and damaged if not",
        arguments: [("3: later", true), ("1: items of another kind", false), ("", false)])
    func unknownStep(step: String, isNewer: Bool) throws {
        try withStore { store in
            try store.edit("\(Self.formerStepList) INSERT INTO grdb_migrations VALUES ('1: items'), ('\(step)')")
            let before = try Data(contentsOf: store.database)
            let error = #expect(throws: KeychainError.self) { try store.open() }
            #expect(error?.code == .notAvailable)
            #expect(error?.message.contains(OwnProgram.isTooOld) == isNewer && (error?.signal == .damage) == !isNewer)
            #expect(try Data(contentsOf: store.database) == before)
        }
    }

    @Test("A list of steps without an end does not keep the opening busy, and counts as damage")
    func endlessList() throws {
        try withStore { store in
            try store.edit(
                """
                \(Self.formerStepList) INSERT INTO grdb_migrations WITH RECURSIVE n(i) AS
                (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) SELECT '1: items' || i FROM n
                """)
            let error = #expect(throws: KeychainError.self) { try store.open() }
            #expect(
                error?.signal == .damage && error?.message.contains("more work") == true, "\(String(describing: error))"
            )
        }
    }

    @Test("A list of steps in another form is not looked at, and keeps the store shut")
    func strangeList() throws {
        for sql in [
            "CREATE TABLE grdb_migrations (identifier TEXT PRIMARY KEY)",
            "CREATE VIEW grdb_migrations AS SELECT '1: items' AS identifier",
            "\(Self.formerStepList) CREATE INDEX more ON grdb_migrations(identifier)",
        ] {
            try withStore { store in
                try store.edit(sql)
                let error = #expect(throws: KeychainError.self) { try store.open() }
                #expect(error?.signal == .damage)
            }
        }
    }

    @Test("A making that was cut short, and then tried by an early program, is taken up again")
    func triedByFormerProgram() throws {
        try withClosedStore({ _ in }) { store in
            try FileManager.default.removeItem(at: store.keybag)
            // An early program goes by its list alone. It makes one, and fails at the first table that is there already.
            let former = try TestDatabase(store.database)
            try former.run(Self.formerStepList)
            #expect(throws: TestDatabase.Failure.self) {
                try former.transaction { try former.run(StoreSchema.current.steps[0].sql) }
            }
            try former.run("ROLLBACK")
            let engine = try store.open()
            try engine.add(.password("a"))
            #expect(try engine.secret(of: "a") == "secret")
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("A program of the former version that has the store open notices, and neither reads nor writes")
    func formerProgram() throws {
        try withStore { store in
            let former = try store.open()
            let writer = try store.open()
            try writer.add(.password("x"))
            _ = try writer.handle(.delete(.password([.account: .text("x")])), from: caller)
            _ = try former.secret(of: "1")
            _ = try Engine(configuration(store, .next))
            for _ in 0..<2 {
                for work in [{ _ = try former.secret(of: "1") }, { _ = try writer.add(.password("y")) }] {
                    let error = #expect(throws: KeychainError.self) { try work() }
                    #expect(error?.code == .notAvailable && error?.message.contains(OwnProgram.isTooOld) == true)
                }
            }
            try expectUpgraded(store)
        }
    }

    @Test("A program that knows a later version uses a store as it is, beside programs that do not, and says so")
    func waits() throws {
        try withStore { store in
            let former = try store.open()
            let later = try Engine(configuration(store, .nextOnNeed))
            for (engine, other, account) in [(former, later, "of the former"), (later, former, "of the later")] {
                try engine.add(.password(account))
                #expect(try other.secret(of: account) == "secret")
            }
            #expect(try store.value("PRAGMA user_version") == 2)
            guard case .status(let status) = try later.handle(.status, from: caller) else {
                Issue.record("another answer")
                return
            }
            #expect((status.schemaVersion, status.knownSchemaVersion, status.leastRelease) == (2, 3, "0.1"))
            func notes(_ engine: Engine) throws -> [String] {
                guard case .checked(let findings) = try engine.handle(.check, from: .owner) else { return [] }
                return findings.filter { $0.severity == .note && $0.text.contains("waits") }.map(\.text)
            }
            let note = "the store waits at version 2 of 3: programs with release 0.1 or later inside open it"
            #expect(try notes(later) == [note])
            #expect(try notes(former).isEmpty)
            #expect(try later.findings().isEmpty)
        }
    }

    @Test("A program that knows a later version makes new stores that earlier programs open")
    func newStore() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory)
            try Engine(configuration(store, .nextOnNeed)).add(.password("new"))
            #expect(try store.open().secret(of: "new") == "secret")
        }
    }

    @Test("What needs a later version raises it; programs that know it go on, others say that they are too old")
    func raised() throws {
        try withStore { store in
            let (former, later) = (try store.open(), try Engine(configuration(store, .nextOnNeed)))
            _ = try (former.secret(of: "1"), later.secret(of: "1"))
            let opener = StoreOpener(configuration(store, .nextOnNeed))
            let opened = try opener.open()
            for _ in 0..<2 { try opener.raise(opened.keys, to: 3) }
            for work in [
                { _ = try former.secret(of: "1") }, { try former.add(.password("y")) }, { _ = try store.open() },
                { _ = try former.handle(.status, from: .owner) }, { _ = try former.handle(.check, from: .owner) },
            ] {
                let error = #expect(throws: KeychainError.self) { try work() }
                let sentence = "version 3, and this program knows versions up to 2. \(OwnProgram.isTooOld)"
                #expect(error?.code == .notAvailable && error?.message.contains(sentence) == true)
            }
            #expect(try later.secret(of: "1") == "secret of 1")
            try expectUpgraded(store)
        }
    }

    @Test("A step that its maker did not live to announce is announced by the next one that needs it")
    func unannounced() throws {
        try withStore { store in
            let former = try store.open()
            let opener = StoreOpener(configuration(store, .nextOnNeed))
            let opened = try opener.open()
            try opener.raise(opened.keys, to: 3)
            try store.edit("PRAGMA user_version = 2")
            _ = try former.secret(of: "1")
            try store.edit("PRAGMA user_version = 3")
            try opener.raise(opened.keys, to: 3)
            #expect(throws: KeychainError.self) { try former.secret(of: "1") }
        }
    }

    @Test("Tables of another program are not raised, and that is said")
    func notRaised() throws {
        try withStore { store in
            let opener = StoreOpener(configuration(store, .nextOnNeed))
            let opened = try opener.open()
            try store.edit("CREATE TABLE of_somebody_else (a)")
            #expect(throws: KeychainError.self) { try opener.raise(opened.keys, to: 3) }
            #expect(try store.value("PRAGMA user_version") == 2)
        }
    }

    @Test("A store whose version was raised keeps that version through a repair")
    func repaired() throws {
        try withStore { store in
            let step = StoreSchema.Step(
                "another table", release: "9.0", sql: "CREATE TABLE another (a INTEGER PRIMARY KEY);")
            let schema = StoreSchema(steps: StoreSchema.current.steps + [step], base: StoreSchema.current.base)
            let configuration = configuration(store, schema)
            do {
                let opener = StoreOpener(configuration)
                try opener.raise(try opener.open().keys, to: 3)
            }
            try store.edit("CREATE TABLE of_somebody_else (a)")
            let report = try StoreRepair(configuration).run(passcode: { .of("") }, progress: { _, _ in })
            #expect(report.savedCount == 40)
            #expect(try store.value("PRAGMA user_version") == 3)
            #expect(try Engine(configuration).secret(of: "17") == "secret of 17")
        }
    }

    @Test("Several processes that bring a store up at once end with one that is whole")
    func atOnce() throws {
        for _ in 0..<6 {
            try withStore { store in
                let agents = try (0..<6).map { _ in
                    try AgentProcess(
                        "open", store.directory.path, environment: ["KEYCHAIN_TEST_SCHEMA": "next"])
                }
                #expect(try agents.allSatisfy { try $0.finish().status == 0 })
                try expectUpgraded(store)
            }
        }
    }

    @Test("A store whose keybag is another's is not brought up")
    func foreignKeybag() throws {
        try withStore { store in
            try withStore { other in
                try FileManager.default.removeItem(at: store.keybag)
                try FileManager.default.copyItem(at: other.keybag, to: store.keybag)
                try FileManager.default.removeItem(at: store.deviceKey)
                try FileManager.default.copyItem(at: other.deviceKey, to: store.deviceKey)
            }
            let before = try Data(contentsOf: store.database)
            let error = #expect(throws: KeychainError.self) { try Engine(configuration(store, .next)) }
            #expect(error?.message.contains("different stores") == true)
            #expect(try Data(contentsOf: store.database) == before)
        }
    }

    @Test("A step that fails leaves the store as it was, for programs of both versions")
    func failedStep() throws {
        try withStore { store in
            let broken = StoreSchema(
                steps: StoreSchema.current.steps + [
                    StoreSchema.Step(
                        "broken", release: "9.0",
                        sql: "UPDATE item SET version = version + 1; SELECT nothing FROM nowhere;")
                ])
            #expect(throws: KeychainError.self) { try Engine(configuration(store, broken)) }
            #expect(try store.value("PRAGMA user_version") == 2)
            #expect(try store.open().secret(of: "3") == "secret of 3")
            try expectUpgradedByOpening(store)
        }
    }

    @Test("A pipe that comes in the database's place holds up no later reader")
    func pipe() throws {
        try withStore { store in
            let kept = store.directory.appendingPathComponent("kept")
            try FileManager.default.moveItem(at: store.database, to: kept)
            try #require(mkfifo(store.database.path, 0o600) == 0)
            let error = #expect(throws: KeychainError.self) { try SQLiteConnection(store.database) }
            #expect(error?.message.contains("is a pipe") == true)
        }
    }

    @Test("What the tables of SQLite's own compute is not computed")
    func statistics() throws {
        for expression in [
            "hex(zeroblob(400000000))", "instr(hex(zeroblob(30000000)), hex(zeroblob(10000000)) || '1')",
            "('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%b')",
        ] {
            let text = expression.replacingOccurrences(of: "'", with: "''")
            try withStore { store in
                try store.edit(
                    """
                    ANALYZE; DELETE FROM sqlite_stat1;
                    INSERT INTO sqlite_stat1 VALUES ('item', 'item_by_home', '1 1');
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_master SET sql = 'CREATE TABLE sqlite_stat1(tbl,idx,stat AS (\(text)))'
                        WHERE name = 'sqlite_stat1';
                    """)
                let start = ContinuousClock.now
                let error = #expect(throws: KeychainError.self) { try store.open() }
                #expect(error?.signal == .damage, "\(error?.message ?? "")")
                // It would take minutes.
                #expect(start.duration(to: .now) < .seconds(30))
            }
        }
    }

    @Test("A trigger that comes while a program has the store open does not run")
    func trigger() throws {
        try withKeychain { keychain throws in
            try keychain.engine.add(.password("a", secret: "old"))
            try TestDatabase(keychain.configuration.storeDirectory.appendingPathComponent("keychain.db"))
                .run("CREATE TRIGGER undo BEFORE DELETE ON item BEGIN SELECT RAISE(ABORT, 'kept'); END")
            _ = try keychain.engine.handle(.delete(.password([.account: .text("a")])), from: caller)
            #expect(throws: KeychainError.self) { try keychain.engine.secret(of: "a") }
        }
    }
}
