package import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// Makes the file `keychain.db` and its tables, and opens connections to it.
package struct DatabaseFile {
    let url: URL
    private let configuration: EngineConfiguration

    package init(_ configuration: EngineConfiguration) {
        url = configuration.storeDirectory.appendingPathComponent("keychain.db")
        self.configuration = configuration
    }

    func probe() throws -> StoreSchema.Probe { try openProbedReader()?.probe ?? .absent }

    /// A reader, and the state of the database that it sees; nil if there is no database.
    func openProbedReader() throws -> (reader: SQLiteConnection, probe: StoreSchema.Probe)? {
        try OwnFile.requireRegularDatabase(url)
        guard FilePath.exists(url.path) else { return nil }
        let reader = try openReader()
        return (reader, try configuration.schema.probe(reader))
    }

    // MARK: Making

    /// Makes the database under another name, and moves it to its place with all its tables: SQLite needs several
    /// transactions for them, and a half-made database would pass for another program's.
    ///
    /// - Parameter version: nil: that of a new store.
    package func make(version: Int? = nil) throws {
        let files = configuration.files
        let temporary = url.appendingPathExtension("new")
        removeUnfinished(temporary)
        try createEmptyFile(temporary)
        do {
            let writer = try openWriter(new: temporary)
            try configuration.schema.migrate(writer, to: version ?? configuration.schema.base)
            // Closing would move the log too, but reports no failure.
            try writer.database.checkpoint()
        }
        guard files.rename(temporary.path, to: url.path) == 0 else { throw KeychainError(file: "create", url, errno) }
        removeUnfinished(temporary)
        try AtomicFile.syncDirectory(of: url, files)
    }

    /// If a removal fails, the next making reports it, since it needs the name.
    private func removeUnfinished(_ temporary: URL) {
        for suffix in ["", "-journal", "-wal", "-shm"] { _ = configuration.files.remove(temporary.path + suffix) }
    }

    /// The file has the right mode from the start, since SQLite gives its log files the mode of the database.
    private func createEmptyFile(_ url: URL) throws(KeychainError) {
        let file = configuration.files.open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)
        guard file >= 0 else { throw KeychainError(file: "create", url, errno) }
        close(file)
    }

    func migrate(to version: Int) throws { try configuration.schema.migrate(try openWriter(), to: version) }

    /// Names the store that the database belongs to, unless the database names one already.
    ///
    /// - Returns: the store that the database names.
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

    /// A quota of the disk counts the stores of all users of the system's daemon as one.
    private static let mostBytesOfUser = 1 << 30

    // MARK: Connections

    var reserve: SpaceReserve { SpaceReserve(beside: url, configuration) }

    func openReader() throws(KeychainError) -> SQLiteConnection {
        let reader = try SQLiteConnection(url)
        reader.setBusyTimeout(configuration.busyTimeout)
        do throws(KeychainError) {
            // The first read makes the index of SQLite's log if it is missing.
            try reader.loadSchema()
        } catch {
            // The caller checks whether the file is a database.
            if error.isNoDatabase { return reader }
            guard error.code == .diskFull else { throw error }
            try reserve.spend { () throws(KeychainError) in try reader.loadSchema() }
        }
        // The size is twice SQLite's own: most pages of a store of ten thousand items.
        try reader.run("PRAGMA cache_size = -4096")
        return reader
    }

    func makeWriteQueue() -> WriteQueue {
        WriteQueue(beside: url, timeout: configuration.busyTimeout, isAlone: configuration.host.isDaemon)
    }

    /// - Parameter new: The place of a database that has no tables yet.
    func openWriter(_ queue: WriteQueue? = nil, new: URL? = nil) throws(KeychainError) -> StoreConnection {
        let (url, queue) = (new ?? url, queue ?? makeWriteQueue())
        let database = try SQLiteConnection(url, mayWrite: true)
        database.setBusyHandler { queue.shouldTryAgain(tries: $0) }
        try database.loadSchema()
        if let most = configuration.mostBytesOfStore ?? (configuration.host == .system ? Self.mostBytesOfUser : nil) {
            let pageSize = try database.rows("PRAGMA page_size", { $0.integer(0) }).first ?? 4_096
            try database.run("PRAGMA max_page_count = \(Int64(most) / pageSize)")
        }
        // The pragma precedes the log, so that the log's beginning is synced too. Otherwise a power cut takes
        // acknowledged writes away, and several transactions can be torn at once, which looks like damage
        // (docs/decisions/014-damage-in-the-log.md).
        try database.run("PRAGMA synchronous = \(configuration.isDurable ? "FULL" : "OFF")")
        if new != nil { try database.prepareToGiveBackPages() }
        guard try database.rows("PRAGMA journal_mode = WAL", { $0.text(0) }) == ["wal"] else {
            throw KeychainError(.notAvailable, message: "the keychain's database cannot keep a log")
        }
        // A file that may be written is read-only for SQLite only if a byte of its header is wrong.
        if database.isReadOnly, FilePath.permits(url.path, W_OK) {
            throw .damagedDatabase("its header says that it is not to be written")
        }
        // The cache, up to 64 MiB, is for a renewal of keys, which changes most pages of the index in one transaction.
        // SQLite notices a damaged page before it writes it.
        try database.run("PRAGMA secure_delete = ON; PRAGMA cache_size = -65536; PRAGMA cell_size_check = ON")
        return StoreConnection(database)
    }
}

extension SQLiteConnection {
    /// The id of the store that the database names.
    func storeID() throws(KeychainError) -> UUID? {
        try rows("SELECT value FROM store WHERE key = 'id'") { UUID(bytes: $0.bytes(0)) }.first ?? nil
    }

    /// Makes a database without tables, or one that is compacted next, note where its pages belong, since only such
    /// pages can be given back (sqlite.org/pragma.html#pragma_auto_vacuum). Early stores do not note it.
    func prepareToGiveBackPages() throws(KeychainError) { try run("PRAGMA auto_vacuum = INCREMENTAL") }
}

extension OwnFile {
    /// The check precedes SQLite, which follows links and waits at a pipe.
    ///
    /// - Throws: `.notAvailable` if one of the files of that database is no regular file.
    static func requireRegularDatabase(_ url: URL) throws(KeychainError) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try requireRegular(URL(fileURLWithPath: url.path + suffix))
        }
    }
}
