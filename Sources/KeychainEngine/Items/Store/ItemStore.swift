internal import FoundationEssentials
internal import KeychainModel
internal import KeychainSystem
internal import Logging
internal import Synchronization

/// The database of a store: readers side by side, one writer at a time, every commit on the disk before it is reported.
package final class ItemStore: Sendable {
    let url: URL
    let storeID: UUID
    private let schema: StoreSchema
    private let verifiedEpoch = BriefLock<UInt64?>(nil)
    private let readers: ReaderPool
    let writeQueue: WriteQueue
    private let reserve: SpaceReserve
    private let pagesGivenBackAtOnce: Int
    /// Notices changes by any process.
    let watch: StoreWatch
    private let logger = Logger(label: "keychain.store")
    /// The writes of other threads that wait for the present one.
    let line = Mutex(WriteLine())
    /// No further write joins a transaction of this age, since writers of other processes wait for it.
    let longestSharedTransaction: Duration
    private let openWriter: @Sendable () throws -> StoreConnection
    /// The first write opens it, since many processes only read.
    private let writer = Mutex<StoreConnection?>(nil)
    /// The mark goes last, after every connection.
    private let openMark: OpenStores.Mark

    init(
        url: URL, storeID: UUID, configuration: EngineConfiguration, readers: ReaderPool, writeQueue: WriteQueue,
        reserve: SpaceReserve, openMark: OpenStores.Mark, openWriter: @escaping @Sendable () throws -> StoreConnection
    ) {
        self.writeQueue = writeQueue
        longestSharedTransaction = configuration.longestSharedTransaction
        self.reserve = reserve
        pagesGivenBackAtOnce = configuration.pagesGivenBackAtOnce
        self.url = url
        watch = StoreWatch(url)
        self.openMark = openMark
        self.storeID = storeID
        schema = configuration.schema
        self.readers = readers
        self.openWriter = openWriter
    }

    /// Runs `body` on one snapshot of the store.
    package func read<R>(_ body: (StoreConnection) throws -> R) throws -> R { try withReader { try $0.read(body) } }

    // MARK: Writing

    /// SQLite's own number: at so many pages it moves the log into the database.
    private static let pagesBetweenCheckpoints: Int32 = 1_000

    /// Runs `body` in a transaction that no other write shares, for large ones. If it throws, nothing is changed.
    ///
    /// - Parameters:
    ///   - pages: How long the log may become before it is moved into the database.
    ///   - forgetsPages: Whether the used pages are dropped from memory afterwards.
    func writeAlone<R>(
        pagesBetweenCheckpoints pages: Int32, forgetsPages: Bool, _ body: (StoreConnection) throws -> R
    ) throws -> R {
        try withWriter { connection in
            connection.database.setPagesBetweenCheckpoints(pages)
            defer { connection.database.setPagesBetweenCheckpoints(Self.pagesBetweenCheckpoints) }
            defer { if forgetsPages { connection.database.releaseMemory() } }
            return try transact(on: connection) { try body(connection) }
        }
    }

    /// Runs `body` in a transaction that no other process shares, and commits; rolls back if it throws.
    ///
    /// - Parameter givesBackPages: false if space is short, since moving pages takes some.
    func transact<R>(
        on connection: StoreConnection, givesBackPages: Bool = true, _ body: () throws -> R
    ) throws -> R {
        writeQueue.letOthersPass()
        defer { writeQueue.leave() }
        let result = try connection.transaction {
            writeQueue.leave()
            try requireUsable(connection)
            let result = try body()
            if givesBackPages { try giveBackFewPages(of: connection) }
            return result
        }
        watch.announce()
        return result
    }

    /// - Throws: `.notAvailable` if the file was removed or replaced, since a write into it would be acknowledged and
    ///   lost; or if the tables are of a version that this program does not know.
    private func requireUsable(_ connection: StoreConnection) throws(KeychainError) {
        guard connection.database.isInPlace else {
            throw KeychainError(
                .notAvailable,
                message: "\(url.path) was removed or replaced while this program had it open; start the program again")
        }
        try requireVersion(try connection.statement(.schemaVersion).number())
    }

    /// Checks whether the tables are of a version that this program knows, once for each epoch of the lock: a change of
    /// the tables begins another epoch.
    ///
    /// - Throws: `.notAvailable` if a newer program has changed the tables.
    func requireVersion(asOf epoch: UInt64) throws {
        guard verifiedEpoch.withLock({ $0 }) != epoch else { return }
        try requireVersion(try withReader { try $0.statement(.schemaVersion).number() })
        verifiedEpoch.withLock { $0 = epoch }
    }

    /// The version of the tables, which another program may have raised.
    ///
    /// - Throws: `.notAvailable` if this program does not know it.
    func version() throws -> Int {
        let found = try withReader { try $0.statement(.schemaVersion).number() }
        try requireVersion(found)
        return Int(found ?? 0)
    }

    private func requireVersion(_ found: Int64?) throws(KeychainError) {
        guard let found, found >= Int64(schema.base) else { throw .damagedDatabase("it has lost its version") }
        guard found > Int64(schema.version) else { return }
        throw KeychainError(
            .notAvailable,
            message:
                "a newer program has brought \(url.path) up to version \(found), and this program knows versions up to "
                + "\(schema.version). \(OwnProgram.isTooOld)")
    }

    /// Moves this process's writes into the database, and cuts the log to nothing.
    ///
    /// - Parameter waits: Whether other processes that are reading are waited for, as long as for a writer.
    package func emptyLog(waits: Bool = false) throws {
        try writer.withLock {
            defer { writeQueue.leave() }
            if let writer = $0 { try waits ? writer.database.checkpoint() : emptyLog(of: writer) }
        }
    }

    private func emptyLog(of connection: StoreConnection) throws {
        // Neither the end of a process nor a lock waits for another process that is reading.
        try writeQueue.withoutWaiting { try connection.database.checkpoint() }
    }

    /// The flaws that SQLite itself finds in its file.
    func integrityProblems() throws -> [String] {
        try withReader { reader in
            try reader.database.rows("PRAGMA integrity_check(20)") { $0.text(0) }.filter { $0 != "ok" }
        }
    }

    /// Called before every row is written, since that could write one row over another in a damaged database.
    func requireIntact() throws {
        guard let problem = try integrityProblems().first else { return }
        throw KeychainError.damagedDatabase(problem)
    }

    private func withReader<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        let reader = try readers.take()
        defer { readers.give(reader) }
        return try body(reader)
    }

    /// Runs `body` while no other thread writes. Threads take turns in their order, since the lock is handed over.
    func withWriter<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        var result: R?
        var isNew = false
        try writer.withLock { writer in
            isNew = writer == nil
            let connection = try writer ?? openCheckedWriter()
            writer = connection
            result = try body(connection)
        }
        // The reserve is made after the work, so that it does not fill the disk before.
        if isNew { reserve.keep() }
        return result!
    }

    private func openCheckedWriter() throws -> StoreConnection {
        let writer = try openWriter()
        // SQLite writes over the pages in its list of free pages. Early stores have such a list, and a killed process
        // may leave one.
        if try freePageCount(writer) > 0 { try requireIntact() }
        return writer
    }
}

// MARK: - Space

extension ItemStore {
    /// Works as ``write(_:)``, for a `body` that only removes items. If the disk is full, the space that is kept for
    /// that is used.
    func remove<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        do {
            return try write(body)
        } catch  where KeychainError(engineFailure: error).code == .diskFull {
            return try reserve.spend { try removeWithLittleSpace(body) }
        }
    }

    private func removeWithLittleSpace<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        try withWriter { connection in
            // Overwriting freed pages takes as much of the log as was freed, so the pages are cut off instead.
            let givesBack = try canGiveBackPages(connection)
            if givesBack { try connection.database.run("PRAGMA secure_delete = FAST") }
            let result = Result { try transact(on: connection, givesBackPages: false) { try body(connection) } }
            // The reserve needs the space of the log again. If the log stays, the next writer empties it.
            defer { try? emptyLog(of: connection) }
            try connection.database.run("PRAGMA secure_delete = ON")
            if givesBack, case .success = result { giveBackManyPages(of: connection, pagesPerStep: 32) }
            return try result.get()
        }
    }

    /// Cuts the pages off the database that the transaction has freed, if they are few. SQLite writes over a free page
    /// without looking: a damaged list that names a used page destroys its content. So no such list is left behind.
    private func giveBackFewPages(of connection: StoreConnection) throws(KeychainError) {
        let free = try freePageCount(connection)
        guard 0 < free, free <= pagesGivenBackAtOnce, try canGiveBackPages(connection) else { return }
        try connection.database.run("PRAGMA incremental_vacuum")
    }

    /// Cuts off many freed pages, in further transactions, so that other programs write in between. If that fails, the
    /// removed items stay removed, and the next write goes on with it.
    func giveBackManyPages(of connection: StoreConnection, pagesPerStep: Int? = nil) {
        do {
            let step = pagesPerStep ?? pagesGivenBackAtOnce
            var free = try freePageCount(connection)
            guard free > 0, try canGiveBackPages(connection) else { return }
            try writeQueue.withoutWaiting {
                while free > 0 {
                    try transact(on: connection, givesBackPages: false) {
                        try connection.database.run("PRAGMA incremental_vacuum(\(step))")
                    }
                    // The file becomes shorter when the log is moved into it.
                    try connection.database.checkpoint(isWhole: pagesPerStep != nil)
                    let left = try freePageCount(connection)
                    guard left < free else { break }
                    free = left
                }
            }
        } catch {
            logger.debug(
                "free pages are left in the database",
                metadata: ["reason": "\(KeychainError(engineFailure: error).code)"])
        }
    }

    private func freePageCount(_ connection: StoreConnection) throws(KeychainError) -> Int {
        Int(try connection.statement(.freePageCount).number() ?? 0)
    }

    private func canGiveBackPages(_ connection: StoreConnection) throws(KeychainError) -> Bool {
        let incremental: Int64 = 2
        return try connection.database.number("PRAGMA auto_vacuum") == incremental
    }

    /// Writes the database anew without free pages, which needs twice its size of free space.
    func compact() throws {
        try withWriter { connection in
            writeQueue.letOthersPass()
            defer { writeQueue.leave() }
            try requireUsable(connection)
            try connection.database.prepareToGiveBackPages()
            try connection.database.run("VACUUM")
            try connection.database.checkpoint()
        }
    }

    func freeBytes() throws -> Int64 {
        try withReader { reader in
            Int64(try freePageCount(reader)) * (try reader.database.number("PRAGMA page_size")!)  // always one row
        }
    }
}
