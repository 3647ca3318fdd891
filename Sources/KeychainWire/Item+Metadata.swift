package import FoundationEssentials
package import KeychainModel

/// The metadata half of a stored item (`Protos/item_metadata.proto`): all but its class, its identifier and its access
/// control, which stand beside it.
extension Item {
    private static let firstList = 6
    private static let expiryNumber = 14

    /// - Parameter secretTag: The authentication tag of the secret half; nil: the item has none. With it neither its removal
    ///   nor another version of it passes unnoticed.
    /// - Parameter hasExpiry: Whether the date of expiry is part of it, as in an export. A store has the date beside
    ///   the metadata.
    package func encodedMetadata(secretTag: Data? = nil, hasExpiry: Bool = false) -> [UInt8] {
        var message = MessageWriter()
        message.add(1, accessGroup)
        message.add(2, synchronizable)
        message.add(3, created)
        message.add(4, modified)
        message.add(5, secretTag ?? Data())
        attributes.write(from: Self.firstList, to: &message)
        if hasExpiry { message.add(Self.expiryNumber, ifAny: expires?.seconds) }
        return message.bytes
    }

    /// The item without its secret, and the tag of the secret half.
    ///
    /// - Throws: `.decode` for bytes that ``encodedMetadata(secretTag:)`` did not make.
    package static func decode(
        metadata bytes: UnsafeRawBufferPointer, of itemClass: ItemClass, _ identifier: UUID,
        _ accessControl: AccessControl
    ) throws(KeychainError) -> (item: Item, secretTag: Data?) {
        do throws(KeychainError) {
            let message = try MessageReader(bytes)
            let tag: Data? = try message.value(5)
            let item = Item(
                itemClass: itemClass, identifier: identifier,
                attributes: try AttributeSet(message, from: firstList), accessGroup: try message.value(1) ?? "",
                synchronizable: try message.value(2) ?? false, accessControl: accessControl,
                created: try message.value(3) ?? 0, modified: try message.value(4) ?? 0,
                expires: try message.expiryDate(expiryNumber))
            return (item, tag?.isEmpty == true ? nil : tag)
        } catch {
            throw KeychainError(.decode, message: "the attributes of a stored item are not readable", cause: error)
        }
    }
}
