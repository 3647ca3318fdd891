import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

@Suite struct ConcurrencyTests {
    @Test("Two processes that make the store at once end with one store")
    func simultaneousCreation() throws {
        for _ in 0..<5 {
            try withTemporaryDirectory { directory in
                let agents = try (0..<4).map { _ in try AgentProcess("open", directory.path) }
                let results = try agents.map { try $0.finish() }
                #expect(results.allSatisfy { $0.status == 0 })
                #expect(Set(results.flatMap(\.lines)).count == 1)
            }
        }
    }

    @Test("No write of several processes is lost")
    func simultaneousAdds() throws {
        try withTemporaryDirectory { directory in
            let agents = try ["a", "b", "c"].map { try AgentProcess("add", directory.path, $0, "60") }
            #expect(try agents.allSatisfy { try $0.finish().status == 0 })
            let engine = try Engine(.test(in: directory))
            #expect(try engine.find(.password(limit: .all)).count == 180)
            for name in ["a-0", "b-31", "c-59"] {
                #expect(try engine.secret(of: name) == "secret of \(name)")
            }
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("What one process adds, another one that was already looking finds")
    func visibility() throws {
        try withTemporaryDirectory { directory in
            let (first, second) = (try Engine(.test(in: directory)), try Engine(.test(in: directory)))
            // Looks before there is anything, in a group that does not exist yet.
            #expect(throws: KeychainError.self) { try second.secret(of: "ann") }
            try first.add(.password("ann"))
            #expect(try second.secret(of: "ann") == "secret")
            _ = try second.handle(.delete(.password([.account: .text("ann")])), from: caller)
            #expect(throws: KeychainError.self) { try first.secret(of: "ann") }
        }
    }

    @Test("A writer that waits too long fails clearly, and nothing is lost")
    func busy() throws {
        try withTemporaryDirectory { directory in
            var configuration = EngineConfiguration.test(in: directory)
            configuration.busyTimeout = 0.05
            let engine = try Engine(configuration)
            try engine.add(.password("ann"))
            let other = try TestDatabase(ClosedStore(directory: directory).database)
            try other.run("BEGIN IMMEDIATE")
            let error = #expect(throws: KeychainError.self) { try engine.add(.password("bob")) }
            #expect(error?.code == .notAvailable)
            #expect(error?.message.contains("another process") == true)
            // Readers do not wait for a writer.
            #expect(try engine.secret(of: "ann") == "secret")
            try other.run("ROLLBACK")
            try engine.add(.password("bob"))
            #expect(try engine.find(.password(limit: .all)).count == 2)
        }
    }

    @Test("T12.3 Damaged items are read as absent while others are added")
    func readsOfDamaged() async throws {
        let directory = try makeTemporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = ClosedStore(directory: directory)
        do {
            let engine = try store.open()
            for number in 0..<100 { try engine.add(.password("damaged-\(number)")) }
        }
        try store.edit("UPDATE item SET metadata = zeroblob(156)")
        let engine = try store.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<10 {
                group.addTask {
                    for number in 0..<20 { try engine.add(.password("new-\(worker)-\(number)")) }
                }
                group.addTask {
                    for number in stride(from: worker, to: 100, by: 10) {
                        let error = #expect(throws: KeychainError.self) { try engine.secret(of: "damaged-\(number)") }
                        #expect(error?.code == .itemNotFound)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try engine.find(.password(limit: .all)).count == 200)
    }

    @Test("Threads share one engine")
    func threads() async throws {
        try await withKeychain(groups: ["G"]) { keychain in
            let engine = keychain.engine
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        for number in 0..<20 {
                            try engine.add(.password("\(worker)-\(number)"))
                            #expect(try engine.secret(of: "\(worker)-\(number)") == "secret")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try engine.find(.password(limit: .all)).count == 160)
        }
    }
}
