package import FoundationEssentials

/// A name for one item that survives every update of it.
///
/// Twenty bytes: the four characters of the class, then sixteen random bytes that each add draws afresh.
package struct PersistentReference: Sendable, Hashable {
    package let itemClass: ItemClass
    package let identifier: UUID

    package init(itemClass: ItemClass, identifier: UUID) {
        self.itemClass = itemClass
        self.identifier = identifier
    }

    package var data: Data {
        Data(itemClass.rawValue.utf8) + withUnsafeBytes(of: identifier.uuid) { Data($0) }
    }

    /// - Throws: `.parameter` for bytes of any other form, Apple's older twelve-byte form among them:
    ///   no item of this store was ever given one.
    package init(data: Data) throws(KeychainError) {
        guard data.count == 20,
            let itemClass = ItemClass(rawValue: String(decoding: data.prefix(4), as: UTF8.self))
        else {
            throw KeychainError(
                .parameter,
                message: "the persistent reference is not one of this keychain (\(data.count) bytes, 20 expected)")
        }
        self.itemClass = itemClass
        var bytes = UUID().uuid
        withUnsafeMutableBytes(of: &bytes) { $0.copyBytes(from: data.suffix(16)) }
        self.identifier = UUID(uuid: bytes)
    }
}
