import Foundation
import KeychainTestSupport
import KeychainWire
import Logging

@testable import KeychainCrypto
@testable import KeychainEngine
@testable import KeychainModel

/// A store with a few items, and a second connection that writes into its tables what no engine would.
final class FuzzedStore: @unchecked Sendable {  // used by libFuzzer's one thread
    private let directory: URL
    private let editor: TestDatabase
    private var engine: Engine
    private let caller = Caller(groups: ["G"], authority: .owner)
    private let tables: [(name: String, rows: [SQLRow])]
    private let items: [Item]
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
        let editor = try! TestDatabase(directory.appendingPathComponent("store/keychain.db"))
        try! editor.run("PRAGMA synchronous = OFF")
        tables = try! ["store", "home", "item", "entry"].map { ($0, try editor.rows("SELECT * FROM \($0)")) }
        self.editor = editor
    }

    nonisolated(unsafe) private static var toRemove = ""

    private static func open(_ directory: URL) -> Engine {
        var configuration = EngineConfiguration.test(in: directory, usesKeyring: false)
        configuration.isDurable = false
        return try! Engine(configuration)
    }

    private static func fill(_ engine: Engine, _ secrets: [String: String]) throws -> [Item] {
        try secrets.sorted(by: { $0.key < $1.key }).map { account, secret in
            var request = AddRequest(.genericPassword)
            request.attributes = [.account: .text(account), .service: .text("service"), .label: .text("label")]
            request.accessGroup = "G"
            request.secret = .of(secret)
            // One expires, in the year 2222.
            if account == secrets.keys.max() { request.expires = .at(ExpiryDate(seconds: 7e9)!) }
            guard case .added(let item) = try engine.handle(.add(request), from: Caller(groups: ["G"])) else {
                preconditionFailure()
            }
            return item
        }
    }

    func reopen() { engine = Self.open(directory) }

    /// Puts every table back as it was.
    func restore() throws {
        try editor.transaction {
            for table in tables {
                try editor.run("DELETE FROM \(table.name)")
                for row in table.rows {
                    let (columns, marks) = (
                        row.keys.joined(separator: ", "), row.map { _ in "?" }.joined(separator: ", ")
                    )
                    try editor.rows("INSERT INTO \(table.name) (\(columns)) VALUES (\(marks))", Array(row.values))
                }
            }
        }
    }
}

// MARK: - Editing

extension FuzzedStore {
    /// Seals bytes as the metadata of the first item.
    func putMetadata(_ bytes: Data, withoutSecret: Bool) throws {
        let half = try seal(bytes, as: .metadata)
        try editor.transaction {
            try editor.rows(
                "UPDATE item SET metadata_key = ?, metadata = ? WHERE id = 1",
                [.blob(half.wrappedKey), .blob(half.box)])
            if withoutSecret { try editor.run("UPDATE item SET secret_key = NULL, secret = NULL WHERE id = 1") }
        }
    }

    /// Seals bytes as the secret of the first item, with metadata that go with it.
    func putSecret(_ bytes: Data) throws {
        let half = try seal(bytes, as: .secret)
        try putMetadata(Data(items[0].encodedMetadata(secretTag: half.tag)), withoutSecret: false)
        try editor.rows(
            "UPDATE item SET secret_key = ?, secret = ? WHERE id = 1", [.blob(half.wrappedKey), .blob(half.box)])
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
            "secret_key", "secret", "expires",
        ]
        let column = columns[Int(input.byte()) % columns.count]
        let value = value(&input, column: column)
        try edit("UPDATE OR IGNORE item SET \(column) = ? WHERE id = ?", [value, .integer(Int64(input.byte() % 4))])
    }

    /// A value of any type, or one of another row, which alone can be right where it does not belong.
    private func value(_ input: inout RowInput, column: String) -> SQLValue {
        let item = tables.first { $0.name == "item" }!
        switch input.byte() % 8 {
        case 0: return .null
        case 1: return .integer(input.integer())
        case 2: return .real(Double(input.integer()) / 3)
        case 3: return .text(String(decoding: input.bytes(64), as: UTF8.self))
        case 4, 5: return .blob(input.bytes(255))
        default:
            guard let value = item.rows[Int(input.byte()) % item.rows.count][column] else { return .null }
            guard case .blob(var bytes) = value, !bytes.isEmpty else { return value }
            // One byte of it is another one, or it is cut.
            let at = bytes.startIndex + Int(input.byte()) % bytes.count
            if input.byte() % 2 == 0 { bytes[at] ^= input.byte() } else { bytes = bytes[..<at] }
            return .blob(Data(bytes))
        }
    }

    /// Writes into the tables that say where items are.
    func editOthers(_ input: inout RowInput) throws {
        let value = value(&input, column: "tokens")
        switch input.byte() % 7 {
        case 0: try edit("UPDATE OR IGNORE home SET class = ?", [value])
        case 1: try edit("UPDATE OR IGNORE home SET tier = ?", [value])
        case 2: try edit("UPDATE OR IGNORE home SET generation = ?", [value])
        case 3: try edit("INSERT OR IGNORE INTO entry SELECT DISTINCT token, ? FROM entry", [value])
        case 4:
            try edit("UPDATE OR IGNORE entry SET token = ? WHERE item = ?", [value, .integer(Int64(input.byte() % 4))])
        case 6: try edit("INSERT OR REPLACE INTO store (key, value) VALUES ('sightings', ?)", [value])
        default:
            try edit(
                "INSERT OR IGNORE INTO home (id, class, tier, generation, token) VALUES (?, ?, ?, ?, ?)",
                (0..<4).map { _ in .integer(input.integer()) } + [value])
        }
    }

    /// What a table refuses, such as NULL, is not written.
    private func edit(_ sql: String, _ arguments: [SQLValue]) throws {
        do {
            try editor.rows(sql, arguments)
        } catch let error as TestDatabase.Failure where error.isRefusedValue {}
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
        _ = try? engine.handle(.removeExpired, from: caller)
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
