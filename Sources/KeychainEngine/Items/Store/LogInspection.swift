package import FoundationEssentials
internal import Glibc
package import KeychainModel

/// Looks for damage in the log of a database before SQLite opens it, since SQLite would drop everything behind the
/// damage.
///
/// The log is not inspected while a process has the database open: SQLite then relies on that process and checks
/// nothing. This process itself must not have it open (``FileBytes``).
struct LogInspection {
    private let database: URL

    init(_ database: URL) { self.database = database }

    /// The damage of a log that lost acknowledged writes.
    struct Damage: Equatable {
        /// The number of frames of transactions that were on the disk.
        var committedFrames: Int
        /// The number of these frames that SQLite would drop.
        var droppedFrames: Int
    }

    /// - Throws: `.notAvailable` if writes would be dropped, or the files cannot be read.
    func requireIntact() throws(KeychainError) {
        if try isEmptyBesideLog() {
            throw KeychainError(
                .notAvailable,
                message: "\(database.path) is empty or missing, though there is a log that belongs to it. Nothing was "
                    + "changed; put keychain.db back from a backup, or, to begin anew, move all files of the store away"
            )
        }
        if let damage = try damage() { throw KeychainError(damagedLogOf: database, damage) }
    }

    /// SQLite deletes a log whose database has no page.
    private func isEmptyBesideLog() throws(KeychainError) -> Bool {
        guard let log = try FileBytes(logURL), log.count > WriteAheadLog.headerSize else { return false }
        // A missing database counts too, since a new one in its place would get the content of the log.
        return try FileBytes(database)?.count ?? 0 == 0
    }

    /// nil if no write is lost.
    func damage() throws(KeychainError) -> Damage? {
        // A process that opens the database at this moment may write into the log while it is read. Damage is still
        // there at the next look.
        guard let first = try look() else { return nil }
        return try look() == first ? first : nil
    }

    private func look() throws(KeychainError) -> Damage? {
        guard let pages = try DatabasePages(database), let log = try LoggedTransactions(database, pages),
            !log.isInUse, log.committed > log.log.framesKeptBySQLite
        else { return nil }
        // A log that is being begun anew has only content that the database has too.
        if !log.log.isHeaderIntact, pages.hasContent(of: log) { return nil }
        return Damage(
            committedFrames: log.committed, droppedFrames: log.committed - log.log.framesKeptBySQLite)
    }

    private var logURL: URL { URL(fileURLWithPath: database.path + "-wal") }
}

/// The log of a database, and how much of it was on the disk when its writers were told so.
package struct LoggedTransactions {
    package let file: FileBytes
    package let log: WriteAheadLog
    /// The number of frames of acknowledged transactions, even if they are damaged or missing.
    package let committed: Int
    /// Whether another process has the database open.
    let isInUse: Bool

    /// nil if the log is missing or empty.
    package init?(_ database: URL, _ pages: DatabasePages) throws(KeychainError) {
        guard let file = try FileBytes(URL(fileURLWithPath: database.path + "-wal")), file.count > 0 else { return nil }
        let index = try FileBytes(URL(fileURLWithPath: database.path + "-shm"))
        isInUse = index.map(Self.isInUse) ?? false
        let claim = index.flatMap(LogIndexHeader.init)
        guard let log = WriteAheadLog(file, pageSize: pages.pageSize, salts: claim?.salts) else { return nil }
        self.file = file
        self.log = log
        // An index of this log knows how much of the log counts: the remains of failed syncs do not. After a power cut
        // the index may be older.
        let claimed = claim?.salts == log.salts ? claim?.frames : nil
        committed = max(log.framesKeptBySQLite, claimed ?? log.framesProvenByLog)
    }

    /// Every process that has the database open holds a lock on this byte of the index (SQLite's os_unix.c,
    /// UNIX_SHM_DMS).
    package static let lockedByte: Int64 = 128

    static func isInUse(_ index: FileBytes) -> Bool {
        var lock = flock(
            l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: off_t(lockedByte), l_len: 1, l_pid: 0)
        return fcntl(index.descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }
}

/// The pages of a database file, read without SQLite (sqlite.org/fileformat.html, section 1).
package struct DatabasePages {
    package let file: FileBytes
    package let pageSize: Int

    /// nil if the file is missing or too short.
    package init?(_ url: URL) throws(KeychainError) {
        guard let file = try FileBytes(url), let header = file.bytes(at: 16, count: 2) else { return nil }
        self.file = file
        let stored = Int(header[0]) << 8 | Int(header[1])
        // 1 stands for 65,536. Any other invalid size comes from damage, and SQLite's default is the best guess.
        let size = stored == 1 ? 65_536 : stored
        pageSize = size >= 512 && size & (size - 1) == 0 ? size : 4096
    }

    /// Whether the database already has the content of every committed page of the log.
    func hasContent(of logged: LoggedTransactions) -> Bool {
        logged.log.newestFrames(among: logged.committed).allSatisfy { page, frame in
            guard page > 0,
                let there = file.bytes(at: Int(page - 1) * pageSize, count: pageSize),
                let logged = logged.file.bytes(at: logged.log.offset(ofPageIn: frame), count: pageSize)
            else { return false }
            return there == logged
        }
    }
}

extension KeychainError {
    fileprivate init(damagedLogOf database: URL, _ damage: LogInspection.Damage) {
        self.init(
            .notAvailable,
            message:
                "the log \(database.path)-wal is damaged: opening it would drop \(damage.droppedFrames) pages that "
                + "were written. Nothing was changed; 'keychainctl doctor --repair' saves what can be read")
        signal = .damage
    }
}
