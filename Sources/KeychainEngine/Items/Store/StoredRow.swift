package import FoundationEssentials
package import KeychainCrypto
package import KeychainModel

/// A row of the table `item` as it lies on disk, under the statement that reads it.
package struct StoredRow {
    static let select = select(last: "secret")
    /// The row for callers that want no secret: a large secret is not read from the disk, unless the row has a date of
    /// expiry, which lies behind the secret.
    static let selectWithoutSecret = select(last: "length(secret)")

    private static func select(last: String) -> String {
        """
        SELECT uuid, home, generation, version, access, tokens, metadata_key, metadata, secret_key, \(last), expires
        FROM item WHERE id = ?
        """
    }

    let id: Int64
    private let statement: SQLiteStatement

    package init(id: Int64, statement: SQLiteStatement) {
        self.id = id
        self.statement = statement
    }

    package var uuid: UUID? { UUID(bytes: statement.bytes(0)) }
    var home: Int64 { statement.integer(1) }
    /// 0, which no key has, if the number is invalid.
    var generation: UInt32 { UInt32(exactly: statement.integer(2)) ?? 0 }
    var version: Int64 { statement.integer(3) }
    var access: UnsafeRawBufferPointer { statement.bytes(4) ?? none }
    /// nil if the bytes are no access control. Not authentic before the row is opened.
    var accessControl: AccessControl? { try? AccessControl(canonicalBytes: access) }
    var tokens: UnsafeRawBufferPointer { statement.bytes(5) ?? none }
    var metadataKey: UnsafeRawBufferPointer { statement.bytes(6) ?? none }
    var metadata: UnsafeRawBufferPointer { statement.bytes(7) ?? none }
    var hasSecret: Bool { !statement.isNull(8) }
    var secretKey: UnsafeRawBufferPointer? { statement.bytes(8) }
    /// Present only if the secret was asked for.
    var secret: UnsafeRawBufferPointer? { statement.bytes(9) }
    /// Valid only if the secret was not asked for.
    var secretByteCount: Int { Int(statement.integer(9)) }

    var hasExpiry: Bool { !statement.isNull(10) }
    /// nil if the bytes are no date. Not authentic before the row is opened.
    package var expires: ExpiryDate? { statement.blob(10).flatMap(ExpiryDate.init(storedBytes:)) }

    private var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

extension IndexToken {
    /// A token without an item: the name of a row that gave up its own.
    package init(_ unique: UUID) {
        self = Swift.withUnsafeBytes(of: unique.uuid) { IndexToken(bytes: $0)! }  // a UUID has sixteen bytes
    }
}

package struct SealedRow {
    package var uuid: UUID
    /// The row's home, and the generation of keys that the row is under.
    var home: Home
    /// The indexer of the home's key.
    var indexer: Indexer
    var version: Int64
    package var uniqueness: IndexToken
    var accessControl: AccessControl
    var tokens: [IndexToken]
    var expires: ExpiryDate?
    var metadata: SealedHalf
    var secret: SealedHalf?

    package init(
        _ item: Item, at home: Home, _ indexer: Indexer, version: Int64,
        _ halves: (metadata: SealedHalf, secret: SealedHalf?)
    ) {
        uuid = item.identifier
        self.home = home
        self.indexer = indexer
        self.version = version
        uniqueness = indexer.uniquenessToken(of: item)
        accessControl = item.accessControl
        tokens = indexer.tokens(of: item.itemClass, attributes: item.attributes)
        expires = item.expires
        (metadata, secret) = halves
    }
}

/// A row under newer keys. Its sealed halves stay: only their keys are wrapped anew.
struct RewrappedRow {
    var home: Int64
    var generation: UInt32
    var uniqueness: IndexToken
    var oldTokens: [IndexToken]
    var tokens: [IndexToken]
    var metadataKey: Data
    var secretKey: Data?
}

/// A row whose metadata has been opened and found authentic.
package struct OpenedRow {
    var id: Int64
    package var version: Int64
    /// The generation of keys that the row is sealed under.
    package var generation: UInt32
    package var item: Item
}
