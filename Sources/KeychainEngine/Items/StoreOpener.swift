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
    private let keybagURL: URL
    private let deviceKeyFile: DeviceKeyFile

    init(_ configuration: EngineConfiguration) {
        self.configuration = configuration
        databaseURL = configuration.storeDirectory.appendingPathComponent("keychain.db")
        keybagURL = configuration.storeDirectory.appendingPathComponent("keybag")
        deviceKeyFile = DeviceKeyFile(directory: configuration.deviceKeyDirectory)
    }

    func open() throws(KeychainError) -> (store: ItemStore, keys: KeyStore) {
        do {
            try PrivateDirectory.create(configuration.storeDirectory)
            if !FileManager.default.fileExists(atPath: keybagURL.path) {
                let lock = configuration.storeDirectory.appendingPathComponent("store.lock")
                try LockFile.withLock(lock) { try makeStore() }
            }
            let deviceKey = try deviceKeyFile.load()
            let keybag = try Keybag(decoding: try Data(contentsOf: keybagURL), deviceKey: deviceKey)
            let store = try openDatabase(expecting: keybag.storeID)
            return (store, KeyStore(keys: try keybag.unwrap(deviceKey: deviceKey)))
        } catch let error as KeychainError where error.code == .decode {
            throw KeychainError(
                .notAvailable, message: "\(error.message). Nothing was changed; run 'keychain doctor'", cause: error)
        } catch let error as CocoaError {
            throw KeychainError(
                .notAvailable, message: "the file \(keybagURL.path) cannot be read; check its owner and mode",
                cause: error)
        } catch {
            throw KeychainError(engineFailure: error)
        }
    }

    // MARK: Making a store

    private func makeStore() throws {
        // Another process may have made the store while this one waited.
        if FileManager.default.fileExists(atPath: keybagURL.path) { return }
        let storeID = try makeDatabase()
        let deviceKey = try deviceKeyFile.loadOrCreate(randomness: configuration.randomness)
        let keybag = try Keybag.make(
            storeID: storeID, deviceKey: deviceKey, randomness: configuration.randomness)
        try keybag.encoded(deviceKey: deviceKey).withUnsafeBytes { bytes in
            try AtomicFile.replace(keybagURL, with: bytes)
        }
    }

    /// The id of the database that is there without a keybag: a new one, or one whose making was cut short.
    private func makeDatabase() throws -> UUID {
        let probe = try StoreSchema.probe(databaseURL)
        try requireUsable(probe, mayBeAbsent: true)
        if probe != .absent { try requireUsable(try inspect().probe, mayBeAbsent: false) }
        let pool = try makePool()
        try StoreSchema.migrator.migrate(pool)
        let fresh = try UUID(from: configuration.randomness)
        let (id, items) = try pool.write { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO store (key, value) VALUES ('id', ?)", arguments: [fresh.bytes])
            return (
                try Data.fetchOne(database, sql: "SELECT value FROM store WHERE key = 'id'"),
                try Int.fetchOne(database, sql: "SELECT count(*) FROM item") ?? 0
            )
        }
        try pool.close()
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

    // MARK: Opening the database

    private func openDatabase(expecting storeID: UUID) throws -> ItemStore {
        try requireUsable(try StoreSchema.probe(databaseURL), mayBeAbsent: false)
        let found = try inspect()
        try requireUsable(found.probe, mayBeAbsent: false)
        guard found.id == storeID.bytes else {
            throw KeychainError(
                .notAvailable,
                message: "keychain.db and keybag in \(configuration.storeDirectory.path) belong to different stores. "
                    + "Nothing was changed; put back the two files of one backup")
        }
        return ItemStore(url: databaseURL, storeID: storeID, pool: try makePool())
    }

    /// What the database says of itself, its log included, through a connection that cannot write: one that can
    /// already writes when it opens.
    private func inspect() throws -> (probe: StoreSchema.Probe, id: Data?) {
        var options = Configuration()
        options.readonly = true
        options.busyMode = .timeout(configuration.busyTimeout)
        let queue = try DatabaseQueue(path: databaseURL.path, configuration: options)
        let found = try queue.read { database in
            let probe = try StoreSchema.probe(database)
            guard probe == .usable, try database.tableExists("store") else { return (probe, Data?.none) }
            return (probe, try Data.fetchOne(database, sql: "SELECT value FROM store WHERE key = 'id'"))
        }
        try queue.close()
        return found
    }

    private func requireUsable(_ probe: StoreSchema.Probe, mayBeAbsent: Bool) throws(KeychainError) {
        let reason: String
        switch probe {
        case .usable: return
        case .absent where mayBeAbsent: return
        case .absent: reason = "is missing, though its keybag is there. Put it back from a backup"
        case .foreign: reason = "is not a keychain database"
        case .newer(let version):
            reason =
                "has version \(version), and this program knows versions up to \(StoreSchema.version): "
                + "a newer version of keychain made it"
        }
        throw KeychainError(.notAvailable, message: "\(databaseURL.path) \(reason). Nothing was changed")
    }

    private func makePool() throws -> DatabasePool {
        var options = Configuration()
        options.label = "keychain"
        options.busyMode = .timeout(configuration.busyTimeout)
        options.prepareDatabase { database in
            try database.execute(sql: "PRAGMA secure_delete = ON")
        }
        // Made here with the right mode: SQLite gives its log files the mode of the database.
        let file = Glibc.open(databaseURL.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw AtomicFile.fileError("open", databaseURL, errno) }
        close(file)
        let pool = try DatabasePool(path: databaseURL.path, configuration: options)
        // GRDB lowers this to NORMAL for a pool; then a power cut takes acknowledged writes away.
        let synchronous = configuration.isDurable ? "FULL" : "OFF"
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(synchronous)") }
        return pool
    }
}
