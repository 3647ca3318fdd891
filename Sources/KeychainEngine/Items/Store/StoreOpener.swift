internal import Foundation
internal import GRDB
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel

/// Opens a store, or makes one where there is none.
///
/// A new store is complete only when its keybag appears: the database comes first, the keybag last, so a
/// keybag without its database, or the other way round, is never taken for a new store.
struct StoreOpener {
    private let configuration: EngineConfiguration
    private let databaseURL: URL
    private let keybagFile: KeybagFile
    private let deviceKeyProvider: any DeviceKeyProvider

    init(_ configuration: EngineConfiguration) {
        self.configuration = configuration
        databaseURL = configuration.storeDirectory.appendingPathComponent("keychain.db")
        keybagFile = KeybagFile(url: configuration.storeDirectory.appendingPathComponent("keybag"))
        deviceKeyProvider = configuration.deviceKeyProvider
    }

    func open() throws(KeychainError) -> (store: ItemStore, keys: KeyStore) {
        do {
            try PrivateDirectory.create(configuration.storeDirectory)
            if !keybagFile.exists {
                let lock = configuration.storeDirectory.appendingPathComponent("store.lock")
                try LockFile.withLock(lock) { try makeStore() }
            }
            let keys = try KeyStore(configuration, keybagFile: keybagFile, deviceKey: try deviceKeyProvider.load())
            return (try openDatabase(expecting: keys.storeID), keys)
        } catch {
            throw KeychainError(engineFailure: error)
        }
    }

    // MARK: Making a store

    private func makeStore() throws {
        // Another process may have made the store while this one waited.
        if keybagFile.exists { return }
        let storeID = try makeDatabase()
        let deviceKey = try deviceKeyProvider.loadOrCreate(randomness: configuration.randomness)
        let keybag = try Keybag.make(
            storeID: storeID, deviceKey: deviceKey, randomness: configuration.randomness)
        try keybagFile.create(keybag, deviceKey: deviceKey)
    }

    /// The id of the database that is there without a keybag: a new one, or one whose making was cut short.
    private func makeDatabase() throws -> UUID {
        if try probe() == .absent { try createEmptyDatabase() }
        try requireUsable(try probe())
        let writer = try openWriter()
        try StoreSchema.migrator.migrate(writer)
        let fresh = try UUID(from: configuration.randomness)
        let (id, items) = try writer.write { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO store (key, value) VALUES ('id', ?), ('generation', 1)",
                arguments: [fresh.bytes])
            return (
                try Data.fetchOne(database, sql: "SELECT value FROM store WHERE key = 'id'"),
                try Int.fetchOne(database, sql: "SELECT count(*) FROM item") ?? 0
            )
        }
        try writer.close()
        guard items == 0 else {
            throw KeychainError(
                .notAvailable,
                message:
                    "the keychain in \(configuration.storeDirectory.path) has \(items) items, but its keybag is missing: "
                    + "without it they cannot be read. Put the file keybag back from a backup. Nothing was changed")
        }
        guard let identifier = id.flatMap({ $0.withUnsafeBytes { UUID(bytes: $0) } }) else {
            throw KeychainError(.notAvailable, message: "the keychain's database has no valid id")
        }
        return identifier
    }

    /// With the right mode from the start: SQLite gives its log files the mode of the database.
    private func createEmptyDatabase() throws(KeychainError) {
        let file = Glibc.open(databaseURL.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw AtomicFile.fileError("create", databaseURL, errno) }
        close(file)
    }

    // MARK: Opening the database

    private func openDatabase(expecting storeID: UUID) throws -> ItemStore {
        let reader = try openReader(expecting: storeID)
        let readers = ReaderPool(databaseURL, busyTimeout: configuration.busyTimeout, first: reader)
        return ItemStore(
            url: databaseURL, storeID: storeID, readers: readers, busyTimeout: configuration.busyTimeout
        ) {
            // Perhaps long after the first reader: what is in the file's place now may be another store, or nothing.
            _ = try openReader(expecting: storeID)
            return try openWriter()
        }
    }

    private func openReader(expecting storeID: UUID) throws -> Reader {
        guard FileManager.default.fileExists(atPath: databaseURL.path) else {
            throw refused(.absent)
        }
        let reader = try Reader(databaseURL, busyTimeout: configuration.busyTimeout)
        try requireUsable(try StoreSchema.probe(reader))
        guard try storedID(reader) == storeID else {
            throw KeychainError(
                .notAvailable,
                message: "keychain.db and keybag in \(configuration.storeDirectory.path) belong to different stores. "
                    + "Nothing was changed; put back the two files of one backup")
        }
        return reader
    }

    private func storedID(_ reader: Reader) throws -> UUID? {
        guard try reader.number("SELECT count(*) FROM sqlite_master WHERE name = 'store'") == 1 else { return nil }
        return try reader.rows("SELECT value FROM store WHERE key = 'id'") { UUID(bytes: $0.bytes(0)) }.first ?? nil
    }

    private func probe() throws -> StoreSchema.Probe {
        guard FileManager.default.fileExists(atPath: databaseURL.path) else { return .absent }
        return try StoreSchema.probe(try Reader(databaseURL, busyTimeout: configuration.busyTimeout))
    }

    private func requireUsable(_ probe: StoreSchema.Probe) throws(KeychainError) {
        if probe != .usable { throw refused(probe) }
    }

    private func refused(_ probe: StoreSchema.Probe) -> KeychainError {
        let reason =
            switch probe {
            case .absent: "is missing, though its keybag is there. Put it back from a backup"
            case .newer(let version):
                "has version \(version), and this program knows versions up to \(StoreSchema.version): "
                    + "a newer version of keychain made it"
            case .usable, .foreign: "is not a keychain database"
            }
        return KeychainError(.notAvailable, message: "\(databaseURL.path) \(reason). Nothing was changed")
    }

    private func openWriter() throws -> DatabaseQueue {
        var options = Configuration()
        options.label = "keychain"
        options.busyMode = .timeout(configuration.busyTimeout)
        options.journalMode = .wal
        options.prepareDatabase { database in
            // The cache, up to 64 MiB, is for a renewal of keys, which changes most pages of the index in one transaction.
            try database.execute(sql: "PRAGMA secure_delete = ON; PRAGMA cache_size = -65536")
        }
        let writer = try DatabaseQueue(path: databaseURL.path, configuration: options)
        // GRDB lowers this to NORMAL with a log; then a power cut takes acknowledged writes away.
        let synchronous = configuration.isDurable ? "FULL" : "OFF"
        try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(synchronous)") }
        return writer
    }
}
