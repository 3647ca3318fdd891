import Foundation
import KeychainCrypto
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// Someone edits the store's tables and has no key.
@Suite struct TamperTests {
    private func withTwoItems<R>(_ body: (ClosedStore) throws -> R) throws -> R {
        try withClosedStore(
            {
                try $0.add(.password("ann", secret: "ann's"))
                try $0.add(.password("bob", secret: "bob's"))
            }, body)
    }

    private func expectGone(_ account: String, _ store: ClosedStore) throws {
        let engine = try store.open()
        let error = #expect(throws: KeychainError.self) { try engine.secret(of: account) }
        #expect(error?.code == .itemNotFound)
        #expect(try !engine.findings().isEmpty)
    }

    @Test(
        "T15.1 A flipped byte in any sealed part hides the item and leaves its neighbour alone",
        arguments: ["metadata", "metadata_key", "secret", "secret_key"])
    func flippedByte(column: String) throws {
        try withTwoItems { store in
            var bytes = try #require(try store.value("SELECT \(column) FROM item WHERE id = 1")?.bytes)
            bytes[bytes.count / 2] ^= 1
            try store.edit("UPDATE item SET \(column) = ? WHERE id = 1", [.blob(bytes)])
            try expectGone("ann", store)
            #expect(try store.open().secret(of: "bob") == "bob's")
        }
    }

    @Test("T15.5 Halves of two rows do not go together", arguments: ["metadata", "secret"])
    func swappedHalves(half: String) throws {
        try withTwoItems { store in
            try store.edit(
                """
                CREATE TEMP TABLE held AS SELECT id, \(half) AS box, \(half)_key AS key FROM item;
                UPDATE item SET \(half) = (SELECT box FROM held WHERE held.id = 3 - item.id),
                    \(half)_key = (SELECT key FROM held WHERE held.id = 3 - item.id);
                """)
            try expectGone("ann", store)
            try expectGone("bob", store)
        }
    }

    @Test("A row that is copied under another item's name does not answer for it")
    func copiedRow() throws {
        let sealed = "version, access, metadata_key, metadata, secret_key, secret"
        // With bob's id, and with its own.
        for identity in ["", "uuid, "] {
            try withTwoItems { store in
                try store.edit(
                    """
                    CREATE TEMP TABLE held AS SELECT \(identity)\(sealed) FROM item WHERE id = 1;
                    DELETE FROM item WHERE id = 1 AND \(identity.isEmpty ? 0 : 1);
                    UPDATE item SET (\(identity)\(sealed)) = (SELECT * FROM held) WHERE id = 2;
                    """)
                try expectGone("bob", store)
                #expect(
                    try store.open().find(.password(limit: .all)).allSatisfy {
                        $0.attributes[.account] == .text("ann") && $0.secret?.copyData() == Data("ann's".utf8)
                    })
            }
        }
    }

    @Test("A secret that is taken away does not pass for an item without one")
    func removedSecret() throws {
        try withTwoItems { store in
            try store.edit("UPDATE item SET secret = NULL, secret_key = NULL WHERE id = 1")
            try expectGone("ann", store)
        }
    }

    @Test("An item whose secret was taken away is not found by a search for its attributes either")
    func removedSecretAttributesOnly() throws {
        try withTwoItems { store in
            try store.edit("UPDATE item SET secret = NULL, secret_key = NULL WHERE id = 1")
            let found = try store.open().find(.password(limit: .all), secrets: false)
            #expect(found.map { $0.attributes[.account] } == [.text("bob")])
        }
    }

    @Test("A secret of the same version from another branch of the row's history does not go with its metadata")
    func branchedHistory() throws {
        try withClosedStore({ try $0.add(.password("ann", secret: "first")) }) { store in
            let change = { (secret: String) throws in
                var changes = ItemChanges()
                changes.secret = .of(secret)
                let request = UpdateRequest(.password([.account: .text("ann")]), changes: changes)
                _ = try store.open().handle(.update(request), from: caller)
            }
            let first = try Data(contentsOf: store.database)
            try change("of the first branch")
            let key = try #require(try store.value("SELECT secret_key FROM item"))
            let box = try #require(try store.value("SELECT secret FROM item"))
            // Somebody puts the old database back, and the row is changed once more: to the same version.
            try store.removeLog()
            try first.write(to: store.database)
            try change("of the second branch")
            #expect(try store.value("SELECT version FROM item") == 2)
            #expect(try store.open().secret(of: "ann") == "of the second branch")
            try store.edit("UPDATE item SET secret_key = ?, secret = ?", [key, box])
            try expectGone("ann", store)
        }
    }

    @Test("An older version of a half does not go with a newer row")
    func olderHalf() throws {
        try withTwoItems { store in
            let old = try #require(try store.value("SELECT secret FROM item WHERE id = 1"))
            let key = try #require(try store.value("SELECT secret_key FROM item WHERE id = 1"))
            var changes = ItemChanges()
            changes.secret = SecretBytes(copying: Data("new".utf8))
            _ = try store.open().handle(
                .update(UpdateRequest(.password([.account: .text("ann")]), changes: changes)), from: caller)
            try store.edit("UPDATE item SET secret = ?, secret_key = ? WHERE id = 1", [old, key])
            try expectGone("ann", store)
        }
    }

    @Test("A constraint that is edited away does not make the item readable")
    func editedAccessControl() throws {
        try withClosedStore({ engine in
            var request = AddRequest.password("ann")
            request.accessControl = try AccessControl(.whenUnlocked, flags: .userPresence)
            try engine.add(request)
            // There is no passcode and no reader.
            let error = #expect(throws: KeychainError.self) { try engine.secret(of: "ann") }
            #expect(error?.code == .authenticationFailed)
        }) { store in
            try store.edit(
                "UPDATE item SET access = ?", [.blob(Data(AccessControl(.whenUnlocked).canonicalBytes))])
            try expectGone("ann", store)
        }
    }

    @Test("T11.12 An item that is listed in another group's home is not that group's")
    func editedHome() throws {
        try withClosedStore({ engine in
            try engine.add(.password("ann", group: "G"))
            try engine.add(.password("eve", group: "E"), as: Caller(groups: ["E"]))
        }) { store in
            try store.edit("UPDATE item SET home = (SELECT home FROM item WHERE id = 2) WHERE id = 1")
            let engine = try store.open()
            for name in ["G", "E"] {
                let error = #expect(throws: KeychainError.self) {
                    try engine.secret(of: "ann", as: Caller(groups: [name]))
                }
                #expect(error?.code == .itemNotFound)
            }
            #expect(try engine.secret(of: "eve", as: Caller(groups: ["E"])) == "secret")
            #expect(try !engine.findings().isEmpty)
        }
    }

    @Test("An entry that is pointed at another item does not make that item answer")
    func editedEntries() throws {
        try withTwoItems { store in
            try store.edit("UPDATE OR REPLACE entry SET item = 3 - item")
            for account in ["ann", "bob"] {
                let engine = try store.open()
                #expect(throws: KeychainError.self) { try engine.secret(of: account) }
            }
            #expect(try !store.open().findings().isEmpty)
        }
    }

    @Test("A row from another store does not open")
    func foreignRow() throws {
        try withTwoItems { store in
            try withClosedStore({ try $0.add(.password("eve", secret: "eve's")) }) { other in
                for column in ["uuid", "version", "access", "metadata_key", "metadata", "secret_key", "secret"] {
                    let value = try #require(try other.value("SELECT CAST(\(column) AS BLOB) FROM item"))
                    try store.edit("UPDATE item SET \(column) = ? WHERE id = 1", [value])
                }
            }
            try store.edit("UPDATE item SET version = 1 WHERE id = 1")
            try expectGone("ann", store)
        }
    }

    /// All that is drawn by lot but the id of the store, which is drawn first.
    private final class SameKeys: Randomness, @unchecked Sendable {  // one thread uses it
        private var calls: UInt8 = 0

        func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(KeychainError) {
            if calls == 0 {
                try SystemRandomness().fill(bytes)
            } else {
                bytes.initializeMemory(as: UInt8.self, repeating: calls)
            }
            calls += 1
        }
    }

    @Test("A row of another store that has the same keys does not open")
    func rowOfTwin() throws {
        func make(_ directory: URL, _ account: String) throws -> Engine {
            var configuration = EngineConfiguration.test(in: directory, usesKeyring: false)
            configuration.randomness = SameKeys()
            let engine = try Engine(configuration)
            try engine.add(.password(account, secret: "of \(account)"))
            return engine
        }
        try withTemporaryDirectory { directory in
            let stores = ["one", "two"].map { ClosedStore(directory: directory.appendingPathComponent($0)) }
            let (ids, keys) = try {
                let engines = try stores.map { try make($0.directory, "ann") }
                let keys = try engines.map { engine in
                    try engine.keys.begin().withClassKey(.whenUnlocked, generation: 1) { Data($0) }
                }
                return (engines.map(\.keys.storeID), keys)
            }()
            #expect(ids[0] != ids[1] && keys[0] == keys[1])
            for column in ["uuid", "version", "access", "metadata_key", "metadata", "secret_key", "secret"] {
                let value = try #require(try stores[1].value("SELECT CAST(\(column) AS BLOB) FROM item"))
                try stores[0].edit("UPDATE item SET \(column) = ? WHERE id = 1", [value])
            }
            try stores[0].edit("UPDATE item SET version = 1 WHERE id = 1")
            try expectGone("ann", stores[0])
        }
    }

    @Test("T15.2 A damaged item gives way to a new one, and only to one with the same unique attributes")
    func replacement() throws {
        try withTwoItems { store in
            try store.edit("UPDATE item SET secret = zeroblob(60) WHERE id = 1")
            let engine = try store.open()
            try engine.add(.password("cid"))
            #expect(try engine.findings().count == 1)
            try engine.add(.password("ann", secret: "new"))
            #expect(try engine.secret(of: "ann") == "new")
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("T15.4 A neighbour that is updated into a damaged item's name takes its place and keeps its own reference")
    func updateIntoDamaged() throws {
        try withTwoItems { store in
            try store.edit("UPDATE item SET secret = zeroblob(60) WHERE id = 1")
            let engine = try store.open()
            let bob = try #require(try engine.find(.password([.account: .text("bob")])).first)
            var changes = ItemChanges()
            changes.attributes = [.account: .text("ann")]
            let query = ItemQuery.password([.account: .text("bob")])
            _ = try engine.handle(.update(UpdateRequest(query, changes: changes)), from: caller)
            var byReference = ItemQuery(.genericPassword)
            byReference.persistentReference = bob.persistentReference
            let found = try #require(try engine.find(byReference).first)
            #expect(found.attributes[.account] == .text("ann"))
            #expect(try engine.secret(of: "ann") == "bob's")
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("An item that claims a class without a key is left out alone, and gives way", arguments: Protection.allCases)
    func editedClass(_ protection: Protection) throws {
        try withTwoItems { store in
            if protection == .whenUnlocked { return }
            try store.edit(
                "UPDATE item SET access = ? WHERE id = 1", [.blob(Data(AccessControl(protection).canonicalBytes))])
            try expectGone("ann", store)
            let engine = try store.open()
            #expect(try engine.find(.password(limit: .all)).count == 1)
            try engine.add(.password("ann", secret: "new"))
            #expect(try engine.secret(of: "ann") == "new")
        }
    }

    @Test("An index that leads to the highest number there is makes nobody crash")
    func highestID() throws {
        try withTwoItems { store in
            try store.edit("INSERT INTO entry SELECT DISTINCT token, 9223372036854775807 FROM entry")
            let engine = try store.open()
            #expect(try engine.find(.password([.account: .text("ann")], limit: .all)).count == 1)
            #expect(try !engine.findings().isEmpty)
        }
        try withTwoItems { store in
            try store.edit("UPDATE item SET id = 9223372036854775807 WHERE id = 1")
            let engine = try store.open()
            #expect(try engine.find(.password(limit: .all)).count == 2)
            #expect(try !engine.findings().isEmpty)
        }
    }

    @Test("T15.3 An update passes over an item whose secret is damaged")
    func updateOfDamaged() throws {
        try withTwoItems { store in
            try store.edit("UPDATE item SET secret = zeroblob(60) WHERE id = 1")
            let engine = try store.open()
            var changes = ItemChanges()
            changes.attributes = [.label: .text("new")]
            _ = try engine.handle(.update(UpdateRequest(.password(), changes: changes)), from: caller)
            #expect(try engine.find(.password([.label: .text("new")], limit: .all)).count == 1)
            let query = ItemQuery.password([.account: .text("ann")])
            let error = #expect(throws: KeychainError.self) {
                try engine.handle(.update(UpdateRequest(query, changes: changes)), from: caller)
            }
            #expect(error?.code == .itemNotFound)
        }
    }

    @Test("A flipped byte anywhere in the database file never yields wrong data")
    func flippedFileBytes() throws {
        try withTwoItems { store in
            let intact = try Data(contentsOf: store.database)
            var refused = 0
            // Every 97th byte, which is prime to the page size and so visits every kind of place.
            for place in stride(from: 0, to: intact.count, by: 97) {
                var damaged = intact
                damaged[place] ^= 0xff
                try damaged.write(to: store.database)
                do {
                    let engine = try store.open()
                    for (account, secret) in [("ann", "ann's"), ("bob", "bob's")] {
                        let found = try engine.secret(of: account)
                        #expect(found == secret)
                    }
                } catch {
                    refused += 1
                }
            }
            // The loop would prove nothing if the bytes it flips were never read.
            #expect(refused > 10)
            try intact.write(to: store.database)
            #expect(try store.open().secret(of: "ann") == "ann's")
        }
    }
}
