internal import Foundation
internal import GRDB
internal import KeychainModel

/// The tables of the store. docs/store-format.md describes every column.
enum StoreSchema {
    /// Counts the changes of the schema; a store with a higher one is refused.
    static let version = 1
    /// SQLite's application id: "KCLX".
    static let applicationID = 0x4B43_4C58

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: items") { database in
            try database.execute(
                sql: """
                    CREATE TABLE store (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
                    CREATE TABLE home (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        class INTEGER NOT NULL,
                        tier INTEGER NOT NULL,
                        token BLOB NOT NULL UNIQUE);
                    CREATE TABLE item (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        uuid BLOB NOT NULL UNIQUE,
                        home INTEGER NOT NULL,
                        version INTEGER NOT NULL,
                        uniqueness BLOB NOT NULL UNIQUE,
                        access BLOB NOT NULL,
                        tokens BLOB NOT NULL,
                        metadata_key BLOB NOT NULL,
                        metadata BLOB NOT NULL,
                        secret_key BLOB,
                        secret BLOB);
                    CREATE INDEX item_by_home ON item(home);
                    CREATE TABLE entry (
                        token BLOB NOT NULL,
                        item INTEGER NOT NULL,
                        PRIMARY KEY (token, item)) WITHOUT ROWID;
                    PRAGMA application_id = \(applicationID);
                    PRAGMA user_version = \(version);
                    """)
        }
        return migrator
    }
}

extension StoreSchema {
    /// What the first bytes of a database file say, read without opening it as one.
    enum Probe: Equatable {
        case absent
        /// A database of ours, of this version or one that can be brought up to it.
        case usable
        case newer(Int)
        case foreign
    }

    /// Looks at the header that SQLite documents: the format's name, the user version at offset 60 and the
    /// application id at offset 68, both big-endian (sqlite.org/fileformat.html, section 1.3).
    static func probe(_ url: URL) throws(KeychainError) -> Probe {
        guard FileManager.default.fileExists(atPath: url.path) else { return .absent }
        guard let file = FileHandle(forReadingAtPath: url.path) else {
            throw KeychainError(
                .notAvailable, message: "the keychain's database \(url.path) cannot be read; check its owner and mode")
        }
        defer { try? file.close() }  // opened for reading: nothing can be lost
        let header: Data
        do {
            header = try file.read(upToCount: 100) ?? Data()
        } catch {
            throw KeychainError(.inputOutput, message: "the keychain's database cannot be read", cause: error)
        }
        // A file that another process has just made, and that is still empty, is not foreign.
        if header.isEmpty { return .absent }
        guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else { return .foreign }
        let found = integer(header, at: 60)
        let application = integer(header, at: 68)
        // Both are 0 until the first transaction has reached the database file from the log.
        guard application == applicationID || (application == 0 && found == 0) else { return .foreign }
        return found > version ? .newer(found) : .usable
    }

    /// The same through an open database, which knows what is still in the log.
    ///
    /// A database without any table is a new one; with tables and without our id it is another program's.
    static func probe(_ database: Database) throws -> Probe {
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        if found == 0 && application == 0 {
            let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
            return tables == 0 ? .usable : .foreign
        }
        guard application == applicationID else { return .foreign }
        return found > version ? .newer(found) : .usable
    }

    private static func integer(_ header: Data, at offset: Int) -> Int {
        header[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
