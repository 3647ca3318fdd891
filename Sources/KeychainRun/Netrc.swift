package import KeychainModel

/// Internet passwords in the form that curl, git and others read them (netrc(5)).
package struct Netrc {
    private let buffer = SecretBuffer()
    /// The secrets for the mask.
    package private(set) var secrets: [SecretBytes] = []

    package init() {}

    package var file: SecretBytes { buffer.secret() }

    /// Adds lines for the items that fit. One is left out if another is for the same server by another protocol: a line
    /// would hold for both. Readers compare the names of servers without regard to capitals.
    ///
    /// - Returns: the number of lines.
    package mutating func add(_ items: [Item]) -> Int {
        func server(_ item: Item) -> String? {
            if case .text(let server)? = item.attributes[.server] { server.lowercased() } else { nil }
        }
        return items.count { item in
            let isAlone = items.allSatisfy {
                server($0) != server(item) || $0.attributes[.internetProtocol] == item.attributes[.internetProtocol]
            }
            return isAlone && add(item)
        }
    }

    /// Adds a line for an item.
    ///
    /// - Returns: false if a netrc has no place for the item: it has another protocol, a path, a port of its own, no
    ///   server, no account, no secret, or a line end or a zero byte.
    package mutating func add(_ item: Item) -> Bool {
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

    /// The protocols that readers of a netrc speak, with the usual port of each.
    private static let ports: [InternetProtocol?: Int64] = [nil: 0, .http: 80, .https: 443, .ftp: 21, .ftps: 990]

    /// The item's protocol. The inner value is nil if the item names none, and the outer one if Apple's keychain has no
    /// such name.
    private static func internetProtocol(_ item: Item) -> InternetProtocol?? {
        guard case .text(let code)? = item.attributes[.internetProtocol], !code.isEmpty else { return .some(nil) }
        return InternetProtocol(rawValue: code).map(Optional.some)
    }

    /// Whether the item is for a whole server. A line holds for every port and every path of its server.
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

    /// Appends a value, in quotes only if it needs them: curl from 7.84 on and Python read quotes, older readers do
    /// not.
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
