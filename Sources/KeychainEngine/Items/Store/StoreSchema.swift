internal import KeychainModel

/// The tables of the store, as the steps from one version to the next. docs/store-format.md describes every column, and
/// docs/decisions/053-old-programs-new-stores.md says when a step is made.
package struct StoreSchema: Sendable {
    /// The step from one version to the next. A released step never changes.
    package struct Step: Sendable {
        let name: String
        /// The first release whose programs know the step.
        let release: String
        let sql: String

        package init(_ name: String, release: String, sql: String) {
            self.name = name
            self.release = release
            self.sql = sql
        }
    }

    /// SQLite's application id: "KCLX".
    package static let applicationID = 0x4B43_4C58

    package static let current = StoreSchema(steps: [items, expiry], base: 2)

    package let steps: [Step]
    /// The version of a new store. A store of an earlier version is brought up to it when it is opened. Later steps are
    /// made when something needs them, since programs of an earlier release do not open the store after that.
    package let base: Int

    /// - Parameters:
    ///   - steps: The first one makes the tables. Only tests use steps other than ``current``.
    ///   - base: nil: the version after all steps.
    package init(steps: [Step], base: Int? = nil) {
        self.steps = steps
        self.base = base ?? steps.count
    }

    /// The number of steps; a store with a higher version is refused.
    package var version: Int { steps.count }

    /// The first release whose programs open a store of that version.
    func release(of version: Int) -> String { steps[version - 1].release }

    /// Makes the missing steps up to a version, each in a transaction that also raises the version.
    func migrate(_ connection: StoreConnection, to version: Int) throws {
        for (number, step) in zip(1..., steps[..<version]) {
            try connection.transaction {
                guard try connection.statement(.schemaVersion).number() == Int64(number - 1) else { return }
                try connection.database.run(
                    """
                    \(step.sql)
                    PRAGMA application_id = \(Self.applicationID);
                    PRAGMA user_version = \(number);
                    """)
            }
        }
    }

    private static let items = Step(
        "items", release: "0.1",
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

    private static let expiry = Step(
        "expiry", release: "0.1",
        sql: """
            ALTER TABLE item ADD COLUMN expires BLOB;
            CREATE INDEX item_by_expiry ON item(expires) WHERE expires IS NOT NULL;
            """)
}

extension StoreSchema {
    /// The kind of a database.
    enum Probe: Equatable {
        case absent
        /// A database of ours, of a version from ``StoreSchema/base`` on.
        case usable
        /// A database of a version before that; version 0 has no tables yet.
        case older(Int)
        case newer(Int)
        case foreign
        /// A database of ours that differs from the tables of its version: the first difference.
        case altered(String)

        /// Whether this program can bring the database up to a later version.
        var isKnown: Bool {
            switch self {
            case .usable, .older: true
            case .absent, .newer, .foreign, .altered: false
            }
        }
    }

    /// Asks through a connection that cannot write, so that a refused store stays as it was. The log is read too, since
    /// it may have a newer version.
    ///
    /// The file's own header is not read: closing a file drops the locks that other connections of this process
    /// hold on it (sqlite.org/howtocorrupt.html, section 2.2).
    ///
    /// A database without any table is a new one; with tables and without our id it is another program's.
    func probe(_ reader: SQLiteConnection) throws(KeychainError) -> Probe {
        do throws(KeychainError) {
            // A statement at a row keeps one snapshot: another process may bring the tables up at this moment.
            let objects = try reader.prepare("SELECT count(*) FROM sqlite_master")
            defer { objects.finalize() }
            _ = try objects.step()
            let found = Int(try reader.number("PRAGMA user_version") ?? 0)
            let application = Int(try reader.number("PRAGMA application_id") ?? 0)
            if found == 0 && application == 0 { return objects.integer(0) == 0 ? .older(0) : .foreign }
            guard application == Self.applicationID, found > 0 else { return .foreign }
            if found > version { return .newer(found) }
            let expected = try StoreSchema(steps: Array(steps.prefix(found))).objects()
            let present = try Self.objects(of: reader)
            if let name = Self.firstDifference(present, expected) { return .altered(name) }
            if present.contains(.formerStepList), let number = try unknownStep(reader) {
                return number > version ? .newer(number) : .altered("table \"grdb_migrations\"")
            }
            return found < base ? .older(found) : .usable
        } catch {
            guard error.isNoDatabase else { throw error }
            return .foreign
        }
    }

    /// The highest number of a step that this program does not know, in the list that early programs kept.
    private func unknownStep(_ reader: SQLiteConnection) throws(KeychainError) -> Int? {
        let known = zip(1..., steps).map { "'\($0): \($1.name)'" }.joined(separator: ", ")
        return try reader.withLittleWork { () throws(KeychainError) in
            try reader.number(
                """
                SELECT CAST(identifier AS INTEGER) FROM grdb_migrations WHERE identifier NOT IN (\(known))
                ORDER BY 1 DESC LIMIT 1
                """
            ).map { Int($0) }
        }
    }
}

// MARK: - The objects of a database

extension StoreSchema {
    /// A table, an index, a view or a trigger, as SQLite's own table describes it.
    fileprivate struct Object: Hashable {
        let type: String
        let name: String
        let table: String
        /// Bytes, since texts that differ for SQLite can be equal as strings. Empty for an index that SQLite makes by
        /// itself.
        let sql: [UInt8]
    }

    /// The objects that the steps make, in memory and in less than a millisecond.
    private func objects() throws(KeychainError) -> Set<Object> {
        let database = try SQLiteConnection.inMemory()
        for step in steps { try database.run(step.sql) }
        return try Self.objects(of: database)
    }

    private static func objects(of database: SQLiteConnection) throws(KeychainError) -> Set<Object> {
        // A store of ours has fewer objects than this limit.
        Set(
            try database.rows("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 1000") { row in
                Object(
                    type: row.text(0), name: row.text(1), table: row.text(2), sql: row.bytes(3).map(Array.init) ?? [])
            })
    }

    private static func firstDifference(_ present: Set<Object>, _ expected: Set<Object>) -> String? {
        let foreign = present.subtracting(expected).subtracting(Object.tolerated)
        let missing = expected.subtracting(present)
        return foreign.union(missing).map { "\($0.type) \"\($0.name)\"" }.min()
    }
}

extension StoreSchema.Object {
    init(type: String, name: String, table: String, sql: String) {
        self.init(type: type, name: name, table: table, sql: Array(sql.utf8))
    }

    /// Early programs kept the list of the made steps in a table, too.
    static let formerStepList = Self(
        type: "table", name: "grdb_migrations", table: "grdb_migrations",
        sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")

    /// Objects that a store of ours may have beside its tables: the list of steps, and the statistics that SQLite
    /// keeps on request.
    static let tolerated: Set = [
        formerStepList,
        Self(type: "index", name: "sqlite_autoindex_grdb_migrations_1", table: "grdb_migrations", sql: ""),
        Self(
            type: "table", name: "sqlite_stat1", table: "sqlite_stat1",
            sql: "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
        Self(
            type: "table", name: "sqlite_stat4", table: "sqlite_stat4",
            sql: "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
    ]
}
