internal import FoundationEssentials
internal import KeychainModel

/// A credential as the attributes of an internet password.
extension GitCredential {
    /// The attributes that the message names. The others are open, except port and way of authentication.
    ///
    /// nil: the message names too little to mean an item, or it names something that no item of git's has.
    var attributes: AttributeSet? {
        guard let scheme, let kind = Self.attribute(scheme: scheme), let host, !host.isEmpty || path?.isEmpty == false
        else { return nil }
        var attributes = AttributeSet()
        if let username { attributes[.account] = AttributeValue(bytes: username) }
        let (server, port) = Self.serverAndPort(host)
        attributes[.server] = AttributeValue(bytes: server)
        attributes[.port] = .number(Int64(port))
        attributes[.internetProtocol] = kind
        if let path { attributes[.path] = AttributeValue(bytes: path) }
        return attributes
    }

    /// The attributes of the item in which the credential is stored: all that make an item unique.
    var attributesToStore: AttributeSet? {
        guard var attributes else { return nil }
        attributes[.securityDomain] = .text("")
        if path == nil { attributes[.path] = .text("") }
        if username == nil { attributes[.account] = .text("") }
        attributes[.authenticationType] = AttributeValue(bytes: authenticationScheme ?? Data())
        return attributes
    }

    /// The text for a person's list of items.
    var label: String {
        func text(_ bytes: Data?) -> String { String(decoding: bytes ?? Data(), as: UTF8.self) }
        return "\(text(scheme))://\(text(host))" + (path.map { "/" + text($0) } ?? "")
    }

    /// Apple's name of a protocol, or git's own for one that Apple's keychain has no name for, such as `cert`.
    ///
    /// nil: the text is no name of a protocol (RFC 3986, 3.1), or it is Apple's name of another protocol.
    private static func attribute(scheme: Data) -> AttributeValue? {
        guard let text = String(validating: scheme, as: UTF8.self),
            text.utf8.first.map({ Character(UnicodeScalar($0)).isLetter }) ?? false,
            text.utf8.allSatisfy({ $0.isLetterOrDigit || "+-.".utf8.contains($0) })
        else { return nil }
        if let known = InternetProtocol(scheme: text) { return .text(known.rawValue) }
        return InternetProtocol(rawValue: text) == nil ? .text(text) : nil
    }

    /// The port is the number behind the last colon. An address of IPv6 has colons too, but stands in brackets.
    /// 0: the host has no port.
    static func serverAndPort(_ host: Data) -> (server: Data, port: UInt16) {
        guard let colon = host.lastIndex(of: UInt8(ascii: ":")) else { return (host, 0) }
        let digits = String(decoding: host[host.index(after: colon)...], as: UTF8.self)
        guard let port = UInt16(digits), port > 0, String(port) == digits else { return (host, 0) }
        return (Data(host[..<colon]), port)
    }
}
