package import FoundationEssentials

/// One item: as it is stored, found, exported and imported.
package struct Item: Sendable {
    package var itemClass: ItemClass
    package var identifier: UUID
    package var attributes: AttributeSet
    package var accessGroup: String
    package var synchronizable: Bool
    package var accessControl: AccessControl
    /// Seconds since 2001-01-01 00:00 UTC.
    package var created: Double
    package var modified: Double
    /// nil: never.
    package var expires: ExpiryDate?
    /// nil if the item has none, or none was asked for.
    package var secret: SecretBytes?
    /// The bytes of an identity's certificate.
    package var certificate: SecretBytes?

    package init(
        itemClass: ItemClass, identifier: UUID, attributes: AttributeSet, accessGroup: String,
        synchronizable: Bool, accessControl: AccessControl, created: Double, modified: Double,
        expires: ExpiryDate? = nil, secret: SecretBytes? = nil, certificate: SecretBytes? = nil
    ) {
        self.itemClass = itemClass
        self.identifier = identifier
        self.attributes = attributes
        self.accessGroup = accessGroup
        self.synchronizable = synchronizable
        self.accessControl = accessControl
        self.created = created
        self.modified = modified
        self.expires = expires
        self.secret = secret
        self.certificate = certificate
    }

    package var persistentReference: PersistentReference {
        PersistentReference(itemClass: itemClass, identifier: identifier)
    }

    /// The attribute by which a person knows the item.
    package var place: AttributeValue? { attributes[.service] ?? attributes[.server] ?? attributes[.applicationTag] }
}
