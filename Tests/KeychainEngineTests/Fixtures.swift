import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport

let caller = Caller(groups: ["G"])

extension AddRequest {
    static func password(
        _ account: String, service: String = "service", secret: String? = "secret", label: String? = nil,
        group: String? = nil, protection: Protection? = nil
    ) -> AddRequest {
        var request = AddRequest(.genericPassword)
        request.attributes = [.account: .text(account), .service: .text(service)]
        if let label { request.attributes[.label] = .text(label) }
        request.accessGroup = group
        request.accessControl = protection.map { AccessControl($0) }
        request.secret = secret.map { SecretBytes(copying: Data($0.utf8)) }
        return request
    }
}

extension ItemQuery {
    static func password(_ attributes: AttributeSet = [:], limit: Limit = .one) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = attributes
        query.limit = limit
        return query
    }
}

extension RequestHandler {
    @discardableResult
    func add(_ request: AddRequest, as caller: Caller = caller) throws(KeychainError) -> Item {
        guard case .added(let item) = try handle(.add(request), from: caller) else { throw wrongReply }
        return item
    }

    func find(
        _ query: ItemQuery, secrets: Bool = true, as caller: Caller = caller
    ) throws(KeychainError) -> [Item] {
        guard case .found(let items) = try handle(.find(FindRequest(query, wantsSecrets: secrets)), from: caller) else {
            throw wrongReply
        }
        return items
    }

    /// The secret of the one item with this account.
    func secret(of account: String, as caller: Caller = caller) throws(KeychainError) -> String? {
        try find(.password([.account: .text(account)]), as: caller).first?.secret.map {
            String(decoding: $0.copyData(), as: UTF8.self)
        }
    }

    func findings() throws(KeychainError) -> [StoreFinding] {
        guard case .checked(let findings) = try handle(.check, from: .owner) else { throw wrongReply }
        return findings.filter { $0.severity != .note }
    }

    /// How many items a check says that it could not look at, as "1 item is"; nil: it says nothing of such.
    func lockedCountInCheck() throws(KeychainError) -> String? {
        guard case .checked(let findings) = try handle(.check, from: .owner) else { throw wrongReply }
        let marker = " locked and could not be looked at"
        return findings.map(\.text).first { $0.hasSuffix(marker) }.map { String($0.dropLast(marker.count)) }
    }

    var wrongReply: KeychainError { KeychainError(.internalFailure, message: "another reply") }
}

/// The files of a store that no engine has open.
struct ClosedStore {
    let directory: URL

    var storeDirectory: URL { directory.appendingPathComponent("store") }
    var database: URL { storeDirectory.appendingPathComponent("keychain.db") }
    var log: URL { URL(fileURLWithPath: database.path + "-wal") }
    var logIndex: URL { URL(fileURLWithPath: database.path + "-shm") }
    var keybag: URL { storeDirectory.appendingPathComponent("keybag") }
    var deviceKey: URL { directory.appendingPathComponent("device/device-key") }

    func open(_ change: (inout EngineConfiguration) -> Void = { _ in }) throws(KeychainError) -> Engine {
        var configuration = EngineConfiguration.test(in: directory)
        change(&configuration)
        return try Engine(configuration)
    }

    /// Runs statements as someone who has the file and no key.
    func edit(_ sql: String) throws {
        let editor = try TestDatabase(database)
        try editor.transaction { try editor.run(sql) }
    }

    /// The same with one statement, which takes values.
    func edit(_ sql: String, _ arguments: [SQLValue]) throws { try TestDatabase(database).rows(sql, arguments) }

    /// Smaller pages make more of them, and a smaller file.
    func setPageSize(_ size: Int) throws { try rewrite("PRAGMA page_size = \(size); VACUUM") }

    /// Runs statements that work without a log alone.
    func rewrite(_ sql: String) throws {
        try TestDatabase(database).run("PRAGMA journal_mode = DELETE; \(sql); PRAGMA journal_mode = WAL")
    }

    /// Leaves what was not committed in the log.
    func writeAndRollBack(megabytes: Int) throws {
        let inserts = String(repeating: "INSERT INTO passing VALUES (randomblob(65536));", count: megabytes * 16)
        try TestDatabase(database).run(
            "PRAGMA cache_size = 10; BEGIN; CREATE TABLE passing (content BLOB); \(inserts) ROLLBACK")
    }

    /// Moves the log into the database and leaves it as long as it is.
    func checkpointWithoutTruncating() throws {
        try TestDatabase(database).run("PRAGMA wal_checkpoint(FULL)")
    }

    /// Every file, by its name.
    var contents: [String: Data] {
        get throws {
            try Dictionary(uniqueKeysWithValues: files.map { ($0.path, try Data(contentsOf: $0)) })
        }
    }

    /// SQLite's log and its index, which belong to the database that was there.
    func removeLog() throws {
        for suffix in ["-wal", "-shm"] {
            let file = URL(fileURLWithPath: database.path + suffix)
            if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
        }
    }

    /// What a statement gives in its one column, in the first row.
    func value(_ sql: String) throws -> SQLValue? { try TestDatabase(database).rows(sql).first?.values.first }

    var files: [URL] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: directory.path).sorted()
                .map { directory.appendingPathComponent($0) }
                .filter { !$0.hasDirectoryPath && FileManager.default.isReadableFile(atPath: $0.path) }
        }
    }
}

/// Makes a directory as the store wants it, and its parents.
func makePrivateDirectory(_ url: URL) throws {
    try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
}

/// Makes a store, lets `fill` use it, closes it, and hands its files over.
func withClosedStore<R>(_ fill: (Engine) throws -> Void, _ body: (ClosedStore) throws -> R) throws -> R {
    try withTemporaryDirectory { directory in
        let store = ClosedStore(directory: directory)
        try fill(try store.open())
        return try body(store)
    }
}
