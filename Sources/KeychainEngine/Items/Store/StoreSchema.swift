internal import Foundation
internal import GRDB
internal import KeychainModel

/// The tables of the store, as the steps that lead from one version to the next. docs/store-format.md describes every
/// column.
package struct StoreSchema: Sendable {
    /// What makes a version out of the one before. Once released it never changes.
    package struct Step: Sendable {
        let name: String
        let sql: String

        package init(_ name: String, sql: String) {
            self.name = name
            self.sql = sql
        }
    }

    /// SQLite's application id: "KCLX".
    static let applicationID = 0x4B43_4C58

    package static let current = StoreSchema(steps: [items])

    package let steps: [Step]

    /// - Parameter steps: The first one makes the tables. Others than ``current`` are for tests.
    package init(steps: [Step]) { self.steps = steps }

    /// Counts the steps; a store with a higher one is refused.
    var version: Int { steps.count }

    /// Each step is a transaction, which also raises the version.
    var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (index, step) in steps.enumerated() {
            migrator.registerMigration("\(index + 1): \(step.name)") { database in
                try database.execute(
                    sql: """
                        \(step.sql)
                        PRAGMA application_id = \(Self.applicationID);
                        PRAGMA user_version = \(index + 1);
                        """)
            }
        }
        return migrator
    }

    private static let items = Step(
        "items",
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
            """)
}

extension StoreSchema {
    /// What a database says of itself.
    enum Probe: Equatable {
        case absent
        /// A database of ours and of this version.
        case usable
        /// One that can be brought up to it; version 0 has no tables yet.
        case older(Int)
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
    func probe(_ reader: Reader) throws -> Probe {
        do {
            let found = Int(try reader.number("PRAGMA user_version") ?? 0)
            let application = Int(try reader.number("PRAGMA application_id") ?? 0)
            if found == 0 && application == 0 {
                return try reader.number("SELECT count(*) FROM sqlite_master") == 0 ? .older(0) : .foreign
            }
            guard application == Self.applicationID, found > 0 else { return .foreign }
            if found == version { return .usable }
            return found > version ? .newer(found) : .older(found)
        } catch let error as KeychainError where error.isNoDatabase {
            return .foreign
        }
    }
}
