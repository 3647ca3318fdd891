internal import CKeychainSQLite
package import KeychainModel

extension KeychainError {
    /// The one place where failures of the database become statuses, after Apple's own mapping (I/O: −36, read-only:
    /// −25292, everything else that keeps the store shut: −25291). A full disk is −34, as for all files; Apple's calls
    /// answer −25291 for it.
    package init(engineFailure error: any Error) {
        self =
            error as? KeychainError
            ?? KeychainError(.internalFailure, message: "the keychain failed unexpectedly", cause: error)
    }

    /// - Parameter problem: The flaw of the database.
    static func damagedDatabase(_ problem: String) -> KeychainError {
        KeychainError(sqliteCode: SQLITE_CORRUPT, detail: problem)
    }

    /// SQLite rolled back the whole transaction by itself, as it does when space or memory is short.
    static var abortedTransaction: KeychainError { KeychainError(sqliteCode: SQLITE_ABORT, detail: nil) }

    /// - Parameter code: The extended code of SQLite, which tells a log's index that does not fit on the disk from one
    ///   that cannot be written.
    init(sqliteCode code: Int32, detail: String?) {
        let cause = SQLiteFailure(code: code)
        let detail = detail.map { " (\($0))" } ?? ""
        let isFull = code == SQLITE_IOERR | 19 << 8  // SQLITE_IOERR_SHMSIZE
        switch isFull ? SQLITE_FULL : code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED:
            self.init(
                .notAvailable,
                message: "another process has been writing to the keychain for too long; try again\(detail)",
                cause: cause)
        case SQLITE_FULL:
            self.init(
                .diskFull,
                message: "the disk is full, or a quota or a limit on the size of files is reached; nothing was changed",
                cause: cause)
        case SQLITE_IOERR:
            self.init(.inputOutput, message: "reading or writing the keychain failed\(detail)", cause: cause)
        case SQLITE_READONLY:
            self.init(
                .readOnly,
                message: "the keychain cannot be written: its file system or its files are read-only\(detail)",
                cause: cause)
        case SQLITE_NOMEM:
            self.init(.allocation, message: "there is not enough memory\(detail)", cause: cause)
        case SQLITE_TOOBIG:
            self.init(.dataTooLarge, message: "the item is too large\(detail)", cause: cause)
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
            self.init(
                .notAvailable, message: "the keychain's files cannot be opened; check their owner and mode\(detail)",
                cause: cause)
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            self.init(
                .notAvailable,
                message: "the keychain's database is damaged; nothing was changed, run 'keychainctl doctor'\(detail)",
                cause: cause)
            signal = .damage
        default:
            self.init(.notAvailable, message: "the keychain's database failed\(detail)", cause: cause)
        }
    }
}

/// SQLite's own code, kept as the cause of an error.
private struct SQLiteFailure: Error {
    let code: Int32
}

extension KeychainError {
    /// Whether SQLite reported the error.
    var isOfDatabase: Bool { cause is SQLiteFailure }

    /// Whether the file is no database at all.
    var isNoDatabase: Bool { (cause as? SQLiteFailure).map { $0.code & 0xff == SQLITE_NOTADB } ?? false }
}
