package import FoundationEssentials
package import KeychainModel

/// The place and the properties that a row's keys and ciphertexts are bound to. They open at no other place.
package struct RowBinding: Sendable {
    package var storeID: UUID
    package var rowID: UUID
    package var itemClass: ItemClass
    package var accessControl: AccessControl
    /// Counts the writes of the row, so that halves of two versions do not go together.
    package var version: Int64
    /// Stands in clear beside the ciphertext.
    package var expires: ExpiryDate?

    package init(
        storeID: UUID, rowID: UUID, itemClass: ItemClass, accessControl: AccessControl, version: Int64,
        expires: ExpiryDate? = nil
    ) {
        self.storeID = storeID
        self.rowID = rowID
        self.itemClass = itemClass
        self.accessControl = accessControl
        self.version = version
        self.expires = expires
    }
}
