import Foundation
import Glibc
import KeychainEngine
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

/// What is in a store's place and cannot be opened is refused, and stays as it was.
@Suite struct StoreOpeningTests {
    private func expectRefused(_ store: ClosedStore, mentioning words: String) throws {
        let before = try store.files.map { ($0, try Data(contentsOf: $0)) }
        let error = #expect(throws: KeychainError.self) { try store.open() }
        #expect(error?.code == .notAvailable)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "no error")")
        for (file, bytes) in before { #expect(try Data(contentsOf: file) == bytes) }
        // Whoever reads a database makes SQLite's log, which stays empty, and its index. Nothing else comes.
        for file in try store.files where !before.contains(where: { $0.0 == file }) {
            let isEmptyLog = try file.path.hasSuffix("keychain.db-wal") && Data(contentsOf: file).isEmpty
            #expect(isEmptyLog || file.path.hasSuffix("keychain.db-shm"), "\(file.lastPathComponent)")
        }
    }

    private func withStore<R>(_ body: (ClosedStore) throws -> R) throws -> R {
        try withClosedStore({ try $0.add(.password("ann")) }, body)
    }

    @Test("A store of a newer version")
    func newerVersion() throws {
        try withStore { store in
            try store.edit("PRAGMA user_version = 3")
            try expectRefused(store, mentioning: OwnProgram.isTooOld)
        }
    }

    @Test(
        "T15.7 A file that is no database is refused",
        arguments: ["not a database at all", String(repeating: "x", count: 5000)])
    func notADatabase(content: String) throws {
        try withStore { store in
            try Data(content.utf8).write(to: store.database)
            try expectRefused(store, mentioning: "not a keychain database")
        }
    }

    @Test(
        "Another program's database, with or without a keybag beside it",
        arguments: ["", "PRAGMA user_version = 1; PRAGMA application_id = 7;"], [true, false])
    func foreignDatabase(marks: String, hasKeybag: Bool) throws {
        try withStore { store in
            try FileManager.default.removeItem(at: store.database)
            if !hasKeybag { try FileManager.default.removeItem(at: store.keybag) }
            try store.edit("CREATE TABLE notes (text TEXT); \(marks)")
            try expectRefused(store, mentioning: "not a keychain database")
        }
    }

    @Test("A keybag of a newer version, whatever follows in it; nothing is made beside it", arguments: [true, false])
    func newerKeybag(isOfKnownSize: Bool) throws {
        try withStore { store in
            var bytes = try Data(contentsOf: store.keybag)
            // The version follows the eight bytes of the mark (docs/keybag-format.md).
            #expect(bytes[8...9].elementsEqual([0, 1]))
            bytes[9] = 3
            if !isOfKnownSize { bytes += Data(repeating: 7, count: 1000) }
            try bytes.write(to: store.keybag)
            chmod(store.keybag.path, 0o600)
            let files = try store.files
            try expectRefused(store, mentioning: OwnProgram.isTooOld)
            #expect(try store.files == files)
            // It is not that nothing but the version is looked at: with the old one the file is as good as ever.
            if isOfKnownSize {
                bytes[9] = 1
                try bytes.write(to: store.keybag)
                #expect(try store.open().secret(of: "ann") == "secret")
            }
        }
    }

    @Test("A newer version in a log that a killed process left is not moved into the database")
    func newerVersionInLeftLog() throws {
        try withStore { store in
            let other = store.directory.appendingPathComponent("other")
            do {
                let newer = try TestDatabase(store.database)
                try newer.run("PRAGMA journal_mode = WAL; PRAGMA user_version = 3")
                // As they lie there while it runs: what a kill leaves.
                try FileManager.default.copyItem(at: store.storeDirectory, to: other)
                withExtendedLifetime(newer) {}
            }
            try FileManager.default.removeItem(at: store.storeDirectory)
            try FileManager.default.moveItem(at: other, to: store.storeDirectory)
            let log = URL(fileURLWithPath: store.database.path + "-wal")
            let before = try [Data(contentsOf: store.database), Data(contentsOf: log)]
            #expect(!before[1].isEmpty)
            let error = #expect(throws: KeychainError.self) { try store.open() }
            #expect(error?.message.contains(OwnProgram.isTooOld) == true)
            #expect(try [Data(contentsOf: store.database), Data(contentsOf: log)] == before)
        }
    }

    @Test("A newer version that is still in the log alone")
    func newerVersionInLog() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory)
            let engine = try store.open()
            let newer = try TestDatabase(store.database)
            try newer.run("PRAGMA user_version = 3")
            let error = #expect(throws: KeychainError.self) { try store.open() }
            #expect(error?.message.contains(OwnProgram.isTooOld) == true)
            withExtendedLifetime((engine, newer)) {}
        }
    }

    @Test("A keybag without its database, and a database with items without its keybag")
    func halfAStore() throws {
        try withStore { store in
            try FileManager.default.removeItem(at: store.database)
            try expectRefused(store, mentioning: "is missing")
        }
        try withStore { store in
            try FileManager.default.removeItem(at: store.keybag)
            let error = #expect(throws: KeychainError.self) { try store.open() }
            #expect(error?.message.contains("its keybag is missing") == true)
            #expect(try store.value("SELECT count(*) FROM item") == 1)
        }
    }

    @Test("A damaged keybag")
    func damagedKeybag() throws {
        try withStore { store in
            var bytes = try Data(contentsOf: store.keybag)
            bytes[40] ^= 1
            try bytes.write(to: store.keybag)
            try expectRefused(store, mentioning: "keybag")
        }
    }

    @Test("Database and keybag of two stores")
    func mixedStores() throws {
        try withStore { store in
            try store.edit("UPDATE store SET value = zeroblob(16) WHERE key = 'id'")
            try expectRefused(store, mentioning: "different stores")
        }
    }

    @Test("A device key that others may read, of another size, or behind a link")
    func deviceKeyFile() throws {
        try withStore { store in
            chmod(store.deviceKey.path, 0o644)
            try expectRefused(store, mentioning: "chmod 600")
            chmod(store.deviceKey.path, 0o600)
            let key = try Data(contentsOf: store.deviceKey)
            try (key + [0]).write(to: store.deviceKey)
            chmod(store.deviceKey.path, 0o600)
            try expectRefused(store, mentioning: "33 bytes")
        }
        try withStore { store in
            let elsewhere = store.directory.appendingPathComponent("elsewhere")
            try FileManager.default.moveItem(at: store.deviceKey, to: elsewhere)
            try FileManager.default.createSymbolicLink(at: store.deviceKey, withDestinationURL: elsewhere)
            try expectRefused(store, mentioning: "device-key")
        }
    }

    @Test("A directory that others may write to")
    func openDirectory() throws {
        try withStore { store in
            chmod(store.storeDirectory.path, 0o777)
            try expectRefused(store, mentioning: "chmod 700")
        }
    }

    @Test("A directory of another user", .enabled(if: geteuid() == 0, "only root can give a directory away"))
    func foreignDirectory() throws {
        try withStore { store in
            chown(store.storeDirectory.path, 12345, 12345)
            try expectRefused(store, mentioning: "belongs to user 12345")
        }
    }

    @Test(
        "Root makes a store in a directory of another user that is nobody's home",
        .enabled(if: geteuid() == 0, "only root can give a directory away"))
    func amongOthers() throws {
        try withTemporaryDirectory { directory in
            try #require(chown(directory.path, 12345, 12345) == 0)
            try ClosedStore(directory: directory).open().add(.password("ann"))
        }
    }

    @Test("New files and directories are their owner's alone")
    func modes() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory)
            let engine = try store.open()
            try engine.add(.password("ann"))
            for file in try store.files + [store.storeDirectory, store.deviceKey.deletingLastPathComponent()] {
                var information = stat()
                #expect(stat(file.path, &information) == 0)
                #expect(information.st_mode & 0o077 == 0, "\(file.lastPathComponent)")
            }
        }
    }

    @Test("A store that cannot be opened works again once it can", .enabled(if: geteuid() == 0))
    func recovery() throws {
        try withStore { store in
            chown(store.storeDirectory.path, 12345, 12345)
            #expect(throws: KeychainError.self) { try store.open() }
            chown(store.storeDirectory.path, 0, 0)
            let engine = try store.open()
            #expect(try engine.secret(of: "ann") == "secret")
        }
    }

    @Test(
        "A write is refused once the database is removed, before the first write and after it",
        arguments: [true, false])
    func removedWhileOpen(hasWritten: Bool) throws {
        try withStore { store in
            let engine = try store.open()
            if hasWritten { try engine.add(.password("bob")) }
            try FileManager.default.moveItem(
                at: store.database, to: store.directory.appendingPathComponent("elsewhere"))
            let error = #expect(throws: KeychainError.self) { try engine.add(.password("cid")) }
            #expect(error?.code == .notAvailable)
            #expect(!FileManager.default.fileExists(atPath: store.database.path))
        }
    }

    @Test("A write is refused once another store lies in the place of this one")
    func replacedWhileOpen() throws {
        try withStore { store in
            let engine = try store.open()
            try withStore { other in
                try FileManager.default.removeItem(at: store.database)
                try FileManager.default.copyItem(at: other.database, to: store.database)
            }
            let error = #expect(throws: KeychainError.self) { try engine.add(.password("cid")) }
            #expect(error?.code == .notAvailable)
        }
    }

    @Test("A making that was cut short before the keybag is taken up again")
    func cutShort() throws {
        try withClosedStore({ _ in }) { store in
            try FileManager.default.removeItem(at: store.keybag)
            let engine = try store.open()
            try engine.add(.password("ann"))
            #expect(try engine.secret(of: "ann") == "secret")
        }
    }
}
