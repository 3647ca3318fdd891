internal import Foundation
internal import GRDB
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// The file `keychain.db`: its making, its tables, and the connections to it.
struct DatabaseFile {
    let url: URL
    private let configuration: EngineConfiguration

    init(_ configuration: EngineConfiguration) {
        url = configuration.storeDirectory.appendingPathComponent("keychain.db")
        self.configuration = configuration
    }

    func probe() throws -> StoreSchema.Probe {
        guard FileManager.default.fileExists(atPath: url.path) else { return .absent }
        return try configuration.schema.probe(try openReader())
    }

    // MARK: Making

    /// Makes it beside its place, and puts it there with all its tables: SQLite and GRDB need several transactions for
    /// them, and what is left of a making that was cut short would pass for another program's database.
    func make() throws {
        let files = configuration.files
        let temporary = url.appendingPathExtension("new")
        removeUnfinished(temporary)
        try createEmptyFile(temporary)
        let writer = try openWriter(temporary, makeWriteQueue(), isNew: true)
        try configuration.schema.migrator.migrate(writer)
        // Closing would do it too, but tells nobody if it fails.
        _ = try writer.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try writer.close()
        guard files.rename(temporary.path, to: url.path) == 0 else { throw AtomicFile.fileError("create", url, errno) }
        removeUnfinished(temporary)
        try AtomicFile.syncDirectory(of: url, files)
    }

    /// Where that fails, the next making says so: it needs the name.
    private func removeUnfinished(_ temporary: URL) {
        for suffix in ["", "-journal", "-wal", "-shm"] { _ = configuration.files.remove(temporary.path + suffix) }
    }

    /// With the right mode from the start: SQLite gives its log files the mode of the database.
    private func createEmptyFile(_ url: URL) throws(KeychainError) {
        let file = configuration.files.open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)
        guard file >= 0 else { throw AtomicFile.fileError("create", url, errno) }
        close(file)
    }

    /// Brings the tables up to this version, in one transaction for each version in between.
    func migrate() throws {
        let writer = try openWriter()
        try configuration.schema.migrator.migrate(writer)
        try writer.close()
    }

    /// Says to which store the database belongs, unless it says so already.
    ///
    /// - Returns: what it says.
    func name(_ storeID: UUID, generation: UInt32) throws -> UUID {
        let writer = try openWriter()
        let stored = try writer.write { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO store (key, value) VALUES ('id', ?), ('generation', ?)",
                arguments: [storeID.bytes, Int64(generation)])
            return try Data.fetchOne(database, sql: "SELECT value FROM store WHERE key = 'id'")
        }
        try writer.close()
        guard let identifier = stored.flatMap({ $0.withUnsafeBytes { UUID(bytes: $0) } }) else {
            throw KeychainError(.notAvailable, message: "the keychain's database has no valid id")
        }
        return identifier
    }

    // MARK: Connections

    var reserve: SpaceReserve { SpaceReserve(beside: url, configuration) }

    func openReader() throws -> Reader {
        let reader = try Reader(url, busyTimeout: configuration.busyTimeout)
        do {
            // The first thing that is read makes the index of SQLite's log, if it is not there.
            _ = try reader.number("PRAGMA schema_version")
        } catch let error as KeychainError where error.code == .diskFull {
            _ = try reserve.spend { try reader.number("PRAGMA schema_version") }
        } catch let error as KeychainError where error.isNoDatabase {
            // Whether there is one is for the caller to ask.
        }
        return reader
    }

    func makeWriteQueue() -> WriteQueue { WriteQueue(beside: url, timeout: configuration.busyTimeout) }

    func openWriter() throws -> DatabaseQueue { try openWriter(makeWriteQueue()) }

    func openWriter(_ queue: WriteQueue) throws -> DatabaseQueue { try openWriter(url, queue) }

    private func openWriter(_ url: URL, _ queue: WriteQueue, isNew: Bool = false) throws -> DatabaseQueue {
        var options = Configuration()
        options.label = "keychain"
        options.busyMode = .callback { queue.shouldTryAgain(tries: $0) }
        let synchronous = configuration.isDurable ? "FULL" : "OFF"
        options.prepareDatabase { database in
            // Not through GRDB, which lowers the next setting to NORMAL with a log, and begins a new one with a
            // transaction that is not synced. Then a power cut takes acknowledged writes away, and several transactions
            // can be torn at once, which looks like damage (docs/decisions/014-damage-in-the-log.md).
            try database.execute(sql: "PRAGMA synchronous = \(synchronous)")
            if isNew { try ItemStore.prepareToGiveBackPages(database) }
            guard try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") == "wal" else {
                throw KeychainError(.notAvailable, message: "the keychain's database cannot keep a log")
            }
            // The cache, up to 64 MiB, is for a renewal of keys, which changes most pages of the index in one
            // transaction. What an edited schema names is not run, and a damaged page is noticed before it is written.
            try database.execute(
                sql: """
                    PRAGMA secure_delete = ON; PRAGMA cache_size = -65536; PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON
                    """)
        }
        return try DatabaseQueue(path: url.path, configuration: options)
    }
}
