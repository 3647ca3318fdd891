internal import Foundation

extension WireItem {
    init(_ item: FoundItem, _ secrets: inout [SecretBytes]) {
        self.init()
        itemClass = WireItemClass(item.itemClass)
        identifier = item.identifier.wireBytes
        if !item.attributes.isEmpty { attributes = WireAttributes(item.attributes) }
        accessGroup = item.accessGroup
        synchronizable = item.synchronizable
        protection = WireProtection(item.accessControl.protection)
        accessFlags = item.accessControl.flags.rawValue
        accessExtension = Data(item.accessControl.extensionBytes)
        created = item.created
        modified = item.modified
        if let secret = item.secret { secretSize = secrets.size(adding: secret) }
        if let certificate = item.certificate { certificateSize = secrets.size(adding: certificate) }
    }
}

extension FoundItem {
    /// Its attributes and dates may be anything: what comes from a store is as it is there, and what is to be imported
    /// is looked at by ``flaw``.
    init(_ wire: WireItem, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            itemClass: try ItemClass(wire.itemClass), identifier: try UUID(wireBytes: wire.identifier),
            attributes: try AttributeSet(wire.attributes), accessGroup: wire.accessGroup,
            synchronizable: wire.synchronizable,
            accessControl: try AccessControl(wire.protection, flags: wire.accessFlags, wire.accessExtension),
            created: wire.created, modified: wire.modified,
            secret: try tail.take(ifAny: wire.hasSecretSize ? wire.secretSize : nil),
            certificate: try tail.take(ifAny: wire.hasCertificateSize ? wire.certificateSize : nil))
    }
}

extension [FoundItem] {
    init(_ wire: [WireItem], _ tail: inout WireTail) throws(KeychainError) {
        self.init()
        reserveCapacity(wire.count)
        for item in wire { append(try FoundItem(item, &tail)) }
    }
}
