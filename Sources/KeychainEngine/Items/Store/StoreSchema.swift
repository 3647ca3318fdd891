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
                        generation INTEGER NOT NULL,
                        token BLOB NOT NULL UNIQUE);
                    CREATE TABLE item (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        uuid BLOB NOT NULL UNIQUE,
                        home INTEGER NOT NULL,
                        generation INTEGER NOT NULL,
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
    /// What a database says of itself.
    enum Probe: Equatable {
        case absent
        /// A database of ours, of this version or one that can be brought up to it.
        case usable
        case newer(Int)
        case foreign
    }

    /// Asks through a connection that cannot write, so that what is refused stays as it was. The log is looked at
    /// too, where a newer version may still be.
    ///
    /// The file's own header is not read: closing a file drops the locks that other connections of this process
    /// hold on it (sqlite.org/howtocorrupt.html, section 2.2).
    ///
    /// A database without any table is a new one; with tables and without our id it is another program's.
    static func probe(_ reader: Reader) throws -> Probe {
        do {
            let found = Int(try reader.number("PRAGMA user_version") ?? 0)
            let application = Int(try reader.number("PRAGMA application_id") ?? 0)
            if found == 0 && application == 0 {
                return try reader.number("SELECT count(*) FROM sqlite_master") == 0 ? .usable : .foreign
            }
            guard application == applicationID else { return .foreign }
            return found > version ? .newer(found) : .usable
        } catch let error as KeychainError where error.isNoDatabase {
            return .foreign
        }
    }
}
