internal import Foundation
internal import KeychainCrypto
internal import KeychainModel

/// A row of the table `item` as it lies on disk, under the statement that reads it.
struct StoredRow {
    static let select = """
        SELECT uuid, home, version, access, tokens, metadata_key, metadata, secret_key, secret
        FROM item WHERE id = ?
        """

    let id: Int64
    private let statement: RawStatement

    init(id: Int64, statement: RawStatement) {
        self.id = id
        self.statement = statement
    }

    var uuid: UUID? { UUID(bytes: statement.bytes(0)) }
    var home: Int64 { statement.integer(1) }
    var version: Int64 { statement.integer(2) }
    var access: UnsafeRawBufferPointer { statement.bytes(3) ?? none }
    var tokens: UnsafeRawBufferPointer { statement.bytes(4) ?? none }
    var metadataKey: UnsafeRawBufferPointer { statement.bytes(5) ?? none }
    var metadata: UnsafeRawBufferPointer { statement.bytes(6) ?? none }
    var hasSecret: Bool { !statement.isNull(7) }
    var secretKey: UnsafeRawBufferPointer? { statement.bytes(7) }
    var secret: UnsafeRawBufferPointer? { statement.bytes(8) }

    private var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

/// A row ready to be written.
struct SealedRow {
    var uuid: UUID
    var home: Int64
    var version: Int64
    var uniqueness: IndexToken
    var accessControl: AccessControl
    var tokens: [IndexToken]
    var metadata: SealedHalf
    var secret: SealedHalf?
}

/// A row whose metadata has been opened and found authentic.
struct OpenedRow {
    var id: Int64
    var uuid: UUID
    var version: Int64
    var itemClass: ItemClass
    var accessControl: AccessControl
    var metadata: ItemMetadata
    /// nil if it was not asked for, or the item has none.
    var secret: SecretBytes?
}
