package import FoundationEssentials
package import KeychainModel

/// One message of git's to a credential helper (git-credential(1), "INPUT/OUTPUT FORMAT").
package struct GitCredential {
    /// git's `protocol`. Here and below, an empty value is not the same as a missing one.
    package var scheme: Data?
    package var host: Data?
    package var path: Data?
    package var username: Data?
    package var password: SecretBytes?
    /// The scheme and the credential replace user name and password: `Authorization: SCHEME CREDENTIAL`.
    package var authenticationScheme: Data?
    package var credential: SecretBytes?
    package var refreshToken: SecretBytes?
    /// Seconds since 1970.
    package var expiry: UInt64?
    /// The newer parts of an answer that git understands.
    package var capabilities: [Data] = []
    /// Whether git wants the credential forgotten.
    package var isEphemeral = false

    package init() {}

    /// - Throws: if a line is not `key=value`, or has a NUL, which ends a text for the C programs around git.
    package init(parsing bytes: UnsafeRawBufferPointer) throws(HelperFailure) {
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.isEmpty { return }
            guard let end = line.firstIndex(of: UInt8(ascii: "=")), !line.contains(0) else {
                throw HelperFailure("git sent a line that is not key=value: nothing was done")
            }
            let value = UnsafeRawBufferPointer(rebasing: line[line.index(after: end)...])
            take(String(decoding: line[..<end], as: UTF8.self), value)
        }
    }

    /// A key that is not known is ignored, as git wants it. The helper also ignores `wwwauth[]`, the server's question,
    /// and `state[]`, in which other helpers remember something between two calls.
    private mutating func take(_ key: String, _ value: UnsafeRawBufferPointer) {
        switch key {
        case "protocol": scheme = Data(value)
        case "host": host = Data(value)
        case "path": path = Data(value)
        case "username": username = Data(value)
        case "password": password = SecretBytes(copying: value)
        case "authtype": authenticationScheme = Data(value)
        case "credential": credential = SecretBytes(copying: value)
        case "oauth_refresh_token": refreshToken = SecretBytes(copying: value)
        case "password_expiry_utc": expiry = UInt64(String(decoding: value, as: UTF8.self))
        case "capability[]": if value.isEmpty { capabilities = [] } else { capabilities.append(Data(value)) }
        case "ephemeral": isEphemeral = value.elementsEqual("1".utf8) || value.elementsEqual("true".utf8)
        default: break
        }
    }

    package var understandsSchemes: Bool { capabilities.contains(Data(Self.schemesCapability.utf8)) }

    static let schemesCapability = "authtype"

    // MARK: Answers

    /// The answer's lines. nil: a value has bytes that end a line or that git takes for an attack, or it is too long
    /// for git.
    package var lines: SecretBuffer? {
        let buffer = SecretBuffer()
        func add(_ key: StaticString, _ value: Data?) -> Bool {
            value.map { value in value.withUnsafeBytes { Self.add(key, $0, to: buffer) } } ?? true
        }
        func add(_ key: StaticString, _ value: SecretBytes?) -> Bool {
            value.map { value in value.withUnsafeBytes { Self.add(key, $0, to: buffer) } } ?? true
        }
        guard capabilities.allSatisfy({ add("capability[]", $0) }),
            add("protocol", scheme), add("host", host), add("path", path), add("username", username),
            add("password", password), add("authtype", authenticationScheme), add("credential", credential),
            add("password_expiry_utc", expiry.map { Data(String($0).utf8) }), add("oauth_refresh_token", refreshToken)
        else { return nil }
        return buffer
    }

    private static func add(_ key: StaticString, _ value: UnsafeRawBufferPointer, to buffer: SecretBuffer) -> Bool {
        guard isLine(value), key.utf8CodeUnitCount + 1 + value.count < mostBytesOfLine else { return false }
        buffer.append(key)
        buffer.append("=")
        buffer.append(value)
        buffer.append("\n")
        return true
    }

    /// The longest line that git reads, its end included (git-credential(1), "INPUT/OUTPUT FORMAT").
    private static let mostBytesOfLine = 65_535

    private static func isLine(_ value: UnsafeRawBufferPointer) -> Bool {
        !value.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") || $0 == 0 }
    }
}
