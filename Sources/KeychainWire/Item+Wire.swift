internal import FoundationEssentials
internal import KeychainModel

extension MessageReader {
    /// An access control, whose three fields messages have at different places; nil: there is none.
    ///
    /// - Throws: `.parameter` for flags that exclude each other, or stand alone.
    func accessControl(
        _ protection: Int, _ flags: Int, _ extensionBytes: Int
    ) throws(KeychainError) -> AccessControl? {
        let flags = AccessControl.Flags(rawValue: try value(flags) ?? 0)
        let extensionBytes: Data = try value(extensionBytes) ?? Data()
        if let protection: Protection = try value(protection) {
            return try AccessControl(protection, flags: flags, extensionBytes: extensionBytes)
        }
        guard flags.isEmpty, extensionBytes.isEmpty else {
            throw KeychainError(.parameter, message: "there are flags of an access control, and no protection")
        }
        return nil
    }
}

extension Item: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, itemClass)
        message.add(2, identifier)
        message.add(3, attributes)
        message.add(4, accessGroup)
        message.add(5, synchronizable)
        message.add(6, accessControl.protection)
        message.add(7, accessControl.flags.rawValue)
        message.add(8, created)
        message.add(9, modified)
        message.add(10, secret: secret)
        message.add(11, secret: certificate)
        message.add(12, Data(accessControl.extensionBytes))
        message.add(13, ifAny: expires?.seconds)
    }

    /// The attributes and dates may be anything: a store's item is read as it is, and ``flaw`` checks an item that is
    /// to be imported.
    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            itemClass: try required(message.value(1)), identifier: try required("identifier", message.value(2)),
            attributes: try AttributeSet(message.value(3)), accessGroup: try message.value(4) ?? "",
            synchronizable: try message.value(5) ?? false,
            accessControl: try required(Protection.termName, message.accessControl(6, 7, 12)),
            created: try message.value(8) ?? 0, modified: try message.value(9) ?? 0,
            expires: try message.expiryDate(13), secret: try tail.take(ifAny: message.value(10)),
            certificate: try tail.take(ifAny: message.value(11)))
    }
}
