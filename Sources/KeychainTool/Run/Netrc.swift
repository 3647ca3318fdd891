internal import KeychainModel

/// Internet passwords in the form that curl, git and others read them (netrc(5)).
struct Netrc {
    private let buffer = SecretBuffer()
    /// For masking.
    private(set) var secrets: [SecretBytes] = []

    var file: SecretBytes { buffer.secret() }

    /// Adds a line for an item.
    ///
    /// - Returns: false if such a file has no place for it: it is for another protocol, for a port of its own or a path, it
    ///   names no server or no account, or has a line end or a zero byte in it.
    mutating func add(_ item: Item) -> Bool {
        guard let secret = item.secret, secret.count > 0, Self.isMeant(item),
            case .text(let server)? = item.attributes[.server], case .text(let account)? = item.attributes[.account],
            !server.isEmpty, !account.isEmpty,
            [server, account].allSatisfy({ Array($0.utf8).withUnsafeBytes(Self.fits) }),
            secret.withUnsafeBytes(Self.fits)
        else { return false }
        append("machine ", server)
        append(" login ", account)
        buffer.append(" password ")
        secret.withUnsafeBytes { append($0) }
        buffer.append("\n")
        secrets.append(secret)
        return true
    }

    /// The protocols that readers of such files speak, with the port that each has when none is named.
    private static let ports: [InternetProtocol?: Int64] = [nil: 0, .http: 80, .https: 443, .ftp: 21, .ftps: 990]

    /// nil: none is named.
    private static func internetProtocol(_ item: Item) -> InternetProtocol?? {
        guard case .text(let code)? = item.attributes[.internetProtocol], !code.isEmpty else { return .some(nil) }
        return InternetProtocol(rawValue: code).map(Optional.some)
    }

    /// A line holds for every port and every path of its server.
    private static func isMeant(_ item: Item) -> Bool {
        if case .text(let path)? = item.attributes[.path], !path.isEmpty { return false }
        guard let name = internetProtocol(item), let usual = ports[name] else { return false }
        if case .number(let port)? = item.attributes[.port] { return port == 0 || port == usual }
        return true
    }

    private static func fits(_ bytes: UnsafeRawBufferPointer) -> Bool {
        !bytes.contains { $0 == 0 || $0 == 10 || $0 == 13 }
    }

    private func append(_ word: String, _ value: String) {
        buffer.append(word)
        Array(value.utf8).withUnsafeBytes { append($0) }
    }

    /// In quotes, as curl 7.84 and Python read them, only if it must be: older readers know none.
    private func append(_ value: UnsafeRawBufferPointer) {
        let isPlain = value.allSatisfy {
            $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 != 0x7f
        }
        if isPlain && value.first != UInt8(ascii: "#") { return buffer.append(value) }
        buffer.append("\"")
        for byte in value {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { buffer.append("\\") }
            buffer.append(byte)
        }
        buffer.append("\"")
    }
}
