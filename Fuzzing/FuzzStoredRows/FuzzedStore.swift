import Foundation
import GRDB
import KeychainTestSupport
import Logging

@testable import KeychainCrypto
@testable import KeychainEngine
@testable import KeychainModel

/// A store with a few items, and a second connection that writes into its tables what no engine would.
final class FuzzedStore: @unchecked Sendable {  // used by libFuzzer's one thread
    private let directory: URL
    private let editor: DatabaseQueue
    private var engine: Engine
    private let caller = Caller(groups: ["G"], authority: .owner)
    private let tables: [(name: String, columns: [String], rows: [[DatabaseValue]])]
    private let items: [FoundItem]
    /// By account.
    private let secrets = ["ann": "ann's", "bob": "bob's", "cid": "cid's"]

    init() {
        // What is damaged is warned of; here that is nearly everything.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        directory = try! makeTemporaryDirectory()
        Self.toRemove = directory.path
        atexit { try? FileManager.default.removeItem(atPath: FuzzedStore.toRemove) }
        engine = Self.open(directory)
        items = try! Self.fill(engine, secrets)
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        editor = try! DatabaseQueue(
            path: directory.appendingPathComponent("store/keychain.db").path, configuration: configuration)
        tables = try! editor.read { database in
            try ["store", "home", "item", "entry"].map { name in
                let rows = try Row.fetchAll(database, sql: "SELECT * FROM \(name)")
                return (name, Array(rows[0].columnNames), rows.map { Array($0.databaseValues) })
            }
        }
    }

    nonisolated(unsafe) private static var toRemove = ""

    private static func open(_ directory: URL) -> Engine {
        var configuration = EngineConfiguration.test(in: directory, usesKeyring: false)
        configuration.isDurable = false
        return try! Engine(configuration)
    }

    private static func fill(_ engine: Engine, _ secrets: [String: String]) throws -> [FoundItem] {
        try secrets.sorted(by: { $0.key < $1.key }).map { account, secret in
            var request = AddRequest(.genericPassword)
            request.attributes = [.account: .text(account), .service: .text("service"), .label: .text("label")]
            request.accessGroup = "G"
            request.secret = .of(secret)
            guard case .added(let item) = try engine.handle(.add(request), from: Caller(groups: ["G"])) else {
                preconditionFailure()
            }
            return item
        }
    }

    func reopen() { engine = Self.open(directory) }

    /// Puts every table back as it was.
    func restore() throws {
        try editor.write { database in
            for table in tables {
                try database.execute(literal: "DELETE FROM \(sql: table.name)")
                let marks = table.columns.map { _ in "?" }.joined(separator: ", ")
                let statement = try database.cachedStatement(sql: "INSERT INTO \(table.name) VALUES (\(marks))")
                for row in table.rows { try statement.execute(arguments: StatementArguments(row)) }
            }
        }
    }
}

// MARK: - Editing

extension FuzzedStore {
    /// Seals bytes as the metadata of the first item.
    func putMetadata(_ bytes: Data, withoutSecret: Bool) throws {
        let half = try seal(bytes, as: .metadata)
        try editor.write { database in
            try database.execute(
                sql: "UPDATE item SET metadata_key = ?, metadata = ? WHERE id = 1",
                arguments: [half.wrappedKey, half.box])
            if withoutSecret {
                try database.execute(sql: "UPDATE item SET secret_key = NULL, secret = NULL WHERE id = 1")
            }
        }
    }

    /// Seals bytes as the secret of the first item, with metadata that go with it.
    func putSecret(_ bytes: Data) throws {
        let half = try seal(bytes, as: .secret)
        let item = items[0]
        let metadata = ItemMetadata(
            accessGroup: item.accessGroup, synchronizable: false, created: item.created, modified: item.modified,
            secretTag: half.tag, attributes: item.attributes)
        try putMetadata(try metadata.encoded(), withoutSecret: false)
        try editor.write { database in
            try database.execute(
                sql: "UPDATE item SET secret_key = ?, secret = ? WHERE id = 1", arguments: [half.wrappedKey, half.box])
        }
    }

    private func seal(_ bytes: Data, as half: RowSealer.Half) throws -> SealedHalf {
        let operations = try engine.items()
        let binding = RowBinding(
            storeID: engine.store.storeID, rowID: items[0].identifier, itemClass: .genericPassword,
            accessControl: items[0].accessControl, version: 1)
        return try operations.keys.withSealingKey(items[0].accessControl.protection) { key throws(KeychainError) in
            try RowSealer.with(classKey: key, binding) { sealer throws(KeychainError) in
                try SecretBytes(copying: bytes).withUnsafeBytes { plaintext throws(KeychainError) in
                    try sealer.seal(plaintext, as: half, randomness: SystemRandomness())
                }
            }
        }
    }

    /// Puts any value into a column of an item.
    func editItem(_ input: inout RowInput) throws {
        let columns = [
            "id", "uuid", "home", "generation", "version", "uniqueness", "access", "tokens", "metadata_key", "metadata",
            "secret_key", "secret",
        ]
        let column = columns[Int(input.byte()) % columns.count]
        let value = value(&input, column: column)
        try edit("UPDATE OR IGNORE item SET \(column) = ? WHERE id = ?", [value, Int64(input.byte() % 4)])
    }

    /// A value of any type, or one of another row, which alone can be right where it does not belong.
    private func value(_ input: inout RowInput, column: String) -> (any DatabaseValueConvertible)? {
        let item = tables.first { $0.name == "item" }!
        switch input.byte() % 8 {
        case 0: return nil
        case 1: return input.integer()
        case 2: return Double(input.integer()) / 3
        case 3: return String(decoding: input.bytes(64), as: UTF8.self)
        case 4, 5: return input.bytes(255)
        default:
            guard let place = item.columns.firstIndex(of: column) else { return nil }
            var value = item.rows[Int(input.byte()) % item.rows.count][place]
            if case .blob(let bytes) = value.storage, !bytes.isEmpty {
                // One byte of it is another one, or it is cut.
                var bytes = bytes
                let at = bytes.startIndex + Int(input.byte()) % bytes.count
                if input.byte() % 2 == 0 { bytes[at] ^= input.byte() } else { bytes = bytes[..<at] }
                value = Data(bytes).databaseValue
            }
            return value
        }
    }

    /// Writes into the tables that say where items are.
    func editOthers(_ input: inout RowInput) throws {
        let value = value(&input, column: "tokens")
        switch input.byte() % 6 {
        case 0: try edit("UPDATE OR IGNORE home SET class = ?", [value])
        case 1: try edit("UPDATE OR IGNORE home SET tier = ?", [value])
        case 2: try edit("UPDATE OR IGNORE home SET generation = ?", [value])
        case 3: try edit("INSERT OR IGNORE INTO entry SELECT DISTINCT token, ? FROM entry", [value])
        case 4: try edit("UPDATE OR IGNORE entry SET token = ? WHERE item = ?", [value, Int64(input.byte() % 4)])
        default:
            try edit(
                "INSERT OR IGNORE INTO home (id, class, tier, generation, token) VALUES (?, ?, ?, ?, ?)",
                [input.integer(), input.integer(), input.integer(), input.integer(), value])
        }
    }

    /// What a table refuses, such as NULL, is not written.
    private func edit(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?]) throws {
        do {
            try editor.write { try $0.execute(sql: sql, arguments: StatementArguments(arguments)) }
        } catch let error as DatabaseError
            where [.SQLITE_CONSTRAINT, .SQLITE_MISMATCH].contains(error.resultCode)
        {}
    }
}

// MARK: - Using

extension FuzzedStore {
    func secretOfFirst() -> Data? {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.account: .text("ann")]
        guard case .found(let found)? = try? engine.handle(.find(FindRequest(query, wantsSecrets: true)), from: caller)
        else { return nil }
        return found.first?.secret?.copyData()
    }

    /// Does everything that can be done with items. It may be refused; it may not trap.
    ///
    /// - Parameter isAuthentic: Whether what the rows hold was sealed with the store's keys. If not, nothing may be
    ///   found but what was stored.
    func useAll(isAuthentic: Bool) {
        for itemClass in [ItemClass.genericPassword, .key, .identity] { list(itemClass, isAuthentic) }
        for item in items {
            var query = ItemQuery(.genericPassword)
            query.persistentReference = item.persistentReference
            find(query, isAuthentic)
            var named = ItemQuery(.genericPassword)
            named.attributes = item.attributes
            find(named, isAuthentic)
        }
        _ = try? engine.handle(.check, from: caller)
        _ = try? engine.handle(.status, from: caller)
        var changes = ItemChanges()
        changes.attributes = [.comment: .text("changed")]
        _ = try? engine.handle(.update(UpdateRequest(ItemQuery(.genericPassword), changes: changes)), from: caller)
        list(.genericPassword, isAuthentic)
        _ = try? engine.handle(.delete(ItemQuery(.genericPassword)), from: caller)
    }

    private func list(_ itemClass: ItemClass, _ isAuthentic: Bool) {
        var query = ItemQuery(itemClass)
        query.limit = .all
        query.synchronizable = .any
        query.authenticationUI = .skip
        find(query, isAuthentic)
    }

    private func find(_ query: ItemQuery, _ isAuthentic: Bool) {
        guard case .found(let found)? = try? engine.handle(.find(FindRequest(query, wantsSecrets: true)), from: caller),
            !isAuthentic
        else { return }
        for item in found {
            guard case .text(let account)? = item.attributes[.account], let secret = item.secret?.copyData() else {
                preconditionFailure("an item was found that nobody stored")
            }
            precondition(secrets[account].map { Data($0.utf8) } == secret, "an item was found that nobody stored")
        }
    }
}
