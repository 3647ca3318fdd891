import Foundation
import KeychainModel
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
        #expect(try store.value("PRAGMA user_version") == 2)
        #expect(try store.value("SELECT count(*) FROM item JOIN later ON later.uuid = item.uuid AND later = id") == 40)
        #expect(try store.value("SELECT count(*) FROM grdb_migrations") == 2)
        let engine = try Engine(configuration(store, .next))
        #expect(try engine.find(.password(limit: .all)).count == 40)
        #expect(try engine.secret(of: "17") == "secret of 17")
        #expect(try engine.findings().isEmpty)
    }

    @Test("An older store is brought up to the present version, with everything in it")
    func upgrade() throws {
        try withStore { store in
            let engine = try Engine(configuration(store, .next))
            try engine.add(.password("new"))
            _ = try engine.handle(.delete(.password([.account: .text("new")])), from: caller)
            guard case .status(let status) = try engine.handle(.status, from: caller) else { return }
            #expect(status.schemaVersion == 2)
            try expectUpgraded(store)
            let error = #expect(throws: KeychainError.self) { try store.open() }
            #expect(error?.code == .notAvailable && error?.message.contains("newer version") == true)
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
                    #expect(error?.code == .notAvailable && error?.message.contains("newer version") == true)
                }
            }
            try expectUpgraded(store)
        }
    }

    @Test("Several processes that bring a store up at once end with one that is whole")
    func atOnce() throws {
        for _ in 0..<3 {
            try withStore { store in
                let agents = try (0..<4).map { _ in
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
                        "broken", sql: "UPDATE item SET version = version + 1; SELECT nothing FROM nowhere;")
                ])
            #expect(throws: KeychainError.self) { try Engine(configuration(store, broken)) }
            #expect(try store.value("PRAGMA user_version") == 1)
            #expect(try store.open().secret(of: "3") == "secret of 3")
            _ = try Engine(configuration(store, .next))
            try expectUpgraded(store)
        }
    }
}
