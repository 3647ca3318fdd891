package import Foundation
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The file `keychain.db`: its making, its tables, and the connections to it.
package struct DatabaseFile {
    let url: URL
    private let configuration: EngineConfiguration

    package init(_ configuration: EngineConfiguration) {
        url = configuration.storeDirectory.appendingPathComponent("keychain.db")
        self.configuration = configuration
    }

    func probe() throws -> StoreSchema.Probe { try openProbedReader()?.probe ?? .absent }

    /// A reader, and what it shows of the database; nil: there is none.
    func openProbedReader() throws -> (reader: SQLiteConnection, probe: StoreSchema.Probe)? {
        try OwnFile.requireRegularDatabase(url)
        guard FilePath.exists(url.path) else { return nil }
        let reader = try openReader()
        return (reader, try configuration.schema.probe(reader))
    }

    // MARK: Making

    /// Makes it beside its place, and puts it there with all its tables: SQLite needs several transactions for them,
    /// and what is left of a making that was cut short would pass for another program's database.
    package func make() throws {
        let files = configuration.files
        let temporary = url.appendingPathExtension("new")
        removeUnfinished(temporary)
        try createEmptyFile(temporary)
        do {
            let writer = try openWriter(new: temporary)
            try configuration.schema.migrate(writer)
            // Closing would do it too, but tells nobody if it fails.
            try writer.database.checkpoint()
        }
        guard files.rename(temporary.path, to: url.path) == 0 else { throw KeychainError(file: "create", url, errno) }
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
        guard file >= 0 else { throw KeychainError(file: "create", url, errno) }
        close(file)
    }

    /// Brings the tables up to this version.
    func migrate() throws { try configuration.schema.migrate(try openWriter()) }

    /// Says to which store the database belongs, unless it says so already.
    ///
    /// - Returns: what it says.
    package func name(_ storeID: UUID, generation: UInt32) throws -> UUID {
        let writer = try openWriter()
        let identifier = try writer.transaction {
            let naming = try writer.statement(.nameStore)
            try naming.bind(storeID, at: 1)
            try naming.bind(Int64(generation), at: 2)
            try naming.run()
            return try writer.database.storeID()
        }
        guard let identifier else {
            throw KeychainError(.notAvailable, message: "the keychain's database has no valid id")
        }
        return identifier
    }

    // MARK: Connections

    var reserve: SpaceReserve { SpaceReserve(beside: url, configuration) }

    func openReader() throws(KeychainError) -> SQLiteConnection {
        let reader = try SQLiteConnection(url)
        reader.setBusyTimeout(configuration.busyTimeout)
        do throws(KeychainError) {
            // The first thing that is read makes the index of SQLite's log, if it is not there.
            try reader.loadSchema()
        } catch {
            // Whether there is a database is for the caller to ask.
            if error.isNoDatabase { return reader }
            guard error.code == .diskFull else { throw error }
            try reserve.spend { () throws(KeychainError) in try reader.loadSchema() }
        }
        // Twice SQLite's own: most pages of a store of ten thousand items.
        try reader.run("PRAGMA cache_size = -4096")
        return reader
    }

    func makeWriteQueue() -> WriteQueue {
        WriteQueue(beside: url, timeout: configuration.busyTimeout, isAlone: configuration.host != .embedded)
    }

    /// - Parameter new: Where a database is that has no tables yet.
    func openWriter(_ queue: WriteQueue? = nil, new: URL? = nil) throws(KeychainError) -> StoreConnection {
        let (url, queue) = (new ?? url, queue ?? makeWriteQueue())
        let database = try SQLiteConnection(url, mayWrite: true)
        database.setBusyHandler { queue.shouldTryAgain(tries: $0) }
        try database.loadSchema()
        // Before the log is begun, so that this is synced too. Otherwise a power cut takes acknowledged writes away, and
        // several transactions can be torn at once, which looks like damage (docs/decisions/014-damage-in-the-log.md).
        try database.run("PRAGMA synchronous = \(configuration.isDurable ? "FULL" : "OFF")")
        if new != nil { try database.prepareToGiveBackPages() }
        guard try database.rows("PRAGMA journal_mode = WAL", { $0.text(0) }) == ["wal"] else {
            throw KeychainError(.notAvailable, message: "the keychain's database cannot keep a log")
        }
        // A wrong byte in its header can say so, and nothing else does of a file that may be written.
        if database.isReadOnly, FilePath.permits(url.path, W_OK) {
            throw .damagedDatabase("its header says that it is not to be written")
        }
        // The cache, up to 64 MiB, is for a renewal of keys, which changes most pages of the index in one transaction. A
        // damaged page is noticed before it is written.
        try database.run("PRAGMA secure_delete = ON; PRAGMA cache_size = -65536; PRAGMA cell_size_check = ON")
        return StoreConnection(database)
    }
}

extension SQLiteConnection {
    /// The id of the store that the database says it belongs to.
    func storeID() throws(KeychainError) -> UUID? {
        try rows("SELECT value FROM store WHERE key = 'id'") { UUID(bytes: $0.bytes(0)) }.first ?? nil
    }

    /// Has a database that has no tables yet, or is compacted next, note where its pages belong, without which none can be
    /// given back (sqlite.org/pragma.html#pragma_auto_vacuum). Early stores do not.
    func prepareToGiveBackPages() throws(KeychainError) { try run("PRAGMA auto_vacuum = INCREMENTAL") }
}

extension OwnFile {
    /// Before SQLite opens a database: it follows links, and waits at a pipe.
    ///
    /// - Throws: `.notAvailable` if one of the files of that database is no regular file.
    static func requireRegularDatabase(_ url: URL) throws(KeychainError) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try requireRegular(URL(fileURLWithPath: url.path + suffix))
        }
    }
}
