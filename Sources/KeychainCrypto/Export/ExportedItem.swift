package import FoundationEssentials
package import KeychainModel
internal import KeychainWire

/// The entry that an item has in an export. docs/export-format.md describes every byte.
package enum ExportedItem {
    /// The first byte of an item's entry.
    package static let kind: UInt8 = 1
    package static let headByteCount = 32

    /// SHA-256 of the entry. Two items that are equal have the same one.
    package static func digest(of item: Item) throws(KeychainError) -> Data {
        let metadata = metadata(of: item)
        var state = SHA256State()
        head(of: item, metadataCount: metadata.count).withUnsafeBytes { state.update($0) }
        metadata.withUnsafeBytes { state.update($0) }
        item.secret?.withUnsafeBytes { state.update($0) }
        var digest = Data(count: SHA256State.byteCount)
        digest.withUnsafeMutableBytes { state.finalize(into: $0) }
        return digest
    }

    /// With the attributes in the order of their codes, so that equal items have equal bytes.
    package static func metadata(of item: Item) -> Data {
        var sorted = item
        sorted.attributes = AttributeSet()
        for entry in item.attributes.entries.sorted(by: { $0.attribute.rawValue < $1.attribute.rawValue }) {
            sorted.attributes.append(entry.attribute, entry.value)
        }
        return Data(sorted.encodedMetadata(hasExpiry: true))
    }

    /// The bytes before metadata and secret.
    package static func head(of item: Item, metadataCount: Int) -> Data {
        var head = Data([kind, item.itemClass.number])
        head.append(contentsOf: item.accessControl.canonicalBytes)
        withUnsafeBytes(of: item.identifier.uuid) { head.append(contentsOf: $0) }
        head.append(item.secret == nil ? 0 : 1)
        head.append(bigEndian: UInt32(clamping: metadataCount))
        head.append(bigEndian: UInt32(clamping: item.secret?.count ?? 0))
        return head
    }
}
