import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

@Suite struct DurabilityTests {
    @Test("Every connection that writes syncs each commit, keeps a log and overwrites what it deletes")
    func pragmas() throws {
        try withTemporaryDirectory { directory in
            let engine = try Engine(.test(in: directory))
            // SQLite's numbers: synchronous 2 is FULL.
            let expected: KeyValuePairs<String, Int64> = [
                "synchronous": 2, "secure_delete": 1, "wal_autocheckpoint": 1_000, "cache_size": -65_536,
                "cell_size_check": 1, "auto_vacuum": 2, "foreign_keys": 0, "trusted_schema": 0, "query_only": 0,
            ]
            for (name, value) in expected {
                let found = try engine.store.withWriter { try $0.database.number("PRAGMA \(name)") }
                #expect(found == value, "\(name)")
            }
            let header = try Data(contentsOf: directory.appendingPathComponent("store/keychain.db")).prefix(100)
            // File format versions 2: write-ahead logging (sqlite.org/fileformat.html, section 1.3).
            #expect(header[18] == 2 && header[19] == 2)
        }
    }

    @Test("What was acknowledged is there after a kill at any moment", arguments: [1, 7, 40, 90, 200])
    func killed(afterBytes: Int) throws {
        try withTemporaryDirectory { directory in
            let acknowledged = try AgentProcess("add", directory.path, "item", "100000").killAfter(bytes: afterBytes)
            let engine = try Engine(.test(in: directory))
            #expect(!acknowledged.isEmpty)
            for number in acknowledged {
                #expect(try engine.secret(of: "item-\(number)") == "secret of item-\(number)")
            }
            // One more may have reached the disk before it was reported, and none is half there.
            let all = try engine.find(.password(limit: .all))
            #expect(acknowledged.count...acknowledged.count + 1 ~= all.count)
            #expect(all.allSatisfy { $0.secret != nil })
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("A full disk refuses the write, and changes nothing")
    func fullDisk() throws {
        try withTemporaryDirectory { directory in
            let engine = try Engine(.test(in: directory))
            try engine.add(.password("ann"))
            // SQLite raises it to the present size, so that nothing can grow.
            try engine.store.withWriter { try $0.database.run("PRAGMA max_page_count = 1") }
            var request = AddRequest.password("bob", secret: nil)
            request.secret = SecretBytes(copying: Data(count: 1 << 20))
            let error = #expect(throws: KeychainError.self) { try engine.add(request) }
            #expect(error?.code == .diskFull)
            #expect(error?.message.contains("full") == true)
            #expect(try engine.find(.password(limit: .all)).count == 1)
        }
    }

    @Test("A failed write changes nothing")
    func rollBack() throws {
        try withTemporaryDirectory { directory in
            let engine = try Engine(.test(in: directory))
            try engine.add(.password("ann"))
            try engine.add(.password("bob"))
            var changes = ItemChanges()
            changes.attributes = [.account: .text("cid")]
            let error = #expect(throws: KeychainError.self) {
                try engine.handle(.update(UpdateRequest(.password(), changes: changes)), from: caller)
            }
            #expect(error?.code == .duplicateItem)
            let accounts = try engine.find(.password(limit: .all)).map { $0.attributes[.account] }
            #expect(accounts == [.text("ann"), .text("bob")])
        }
    }
}
