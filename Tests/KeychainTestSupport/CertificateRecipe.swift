package import Foundation
internal import KeychainCrypto
package import KeychainKeys
internal import KeychainModel

/// A certificate that is made field by field, so that each of them can be wrong.
package struct CertificateRecipe: Sendable {
    package var version = 3
    /// Whether version 1 is written, which DER leaves out.
    package var writesFirstVersion = false
    package var serial: UInt8 = 1
    /// Common names.
    package var subject: String?
    package var issuer: String?
    package var notBefore = Date(timeIntervalSince1970: 1_700_000_000)
    package var notAfter = Date(timeIntervalSince1970: 1_700_000_000 + 365 * 86_400)
    package var key: AsymmetricKey
    /// The issuer's.
    package var signer: AsymmetricKey
    package var digest = Digest.sha256
    /// Another algorithm in the signed part than beside the signature.
    package var innerDigest: Digest?
    /// Whether the signed part names RSA's algorithm without NULL.
    package var innerLacksNull = false
    package var extensions: [CertificateExtensionRecipe] = []
    /// Fields as encoded, in place of those above.
    package var encoded: (serial: Data?, subject: Data?, issuer: Data?, key: Data?)

    package enum Digest: Sendable { case md5, sha1, sha256 }

    package init(_ subject: String?, _ key: AsymmetricKey, by issuer: (name: String?, key: AsymmetricKey)) {
        (self.subject, self.key, self.issuer, signer) = (subject, key, issuer.name, issuer.key)
    }

    package func der() throws -> Data {
        let signed = OpenSSL.node(0x30, try content)
        let signature = try signature(of: signed)
        return OpenSSL.node(0x30, signed + algorithm(digest) + OpenSSL.node(0x03, Data([0]) + signature))
    }

    private var content: Data {
        get throws {
            let number =
                version == 1 && !writesFirstVersion
                ? Data() : OpenSSL.node(0xA0, OpenSSL.node(0x02, Data([UInt8(version - 1)])))
            let validity = OpenSSL.node(0x30, Self.time(notBefore) + Self.time(notAfter))
            let list = extensions.map(\.der).reduce(Data(), +)
            let rest = list.isEmpty ? Data() : OpenSSL.node(0xA3, OpenSSL.node(0x30, list))
            let inner = algorithm(innerDigest ?? digest, withNull: !innerLacksNull)
            return number + OpenSSL.node(0x02, encoded.serial ?? Data([serial])) + inner
                + (encoded.issuer ?? Self.name(issuer)) + validity + (encoded.subject ?? Self.name(subject))
                + (try encoded.key ?? KeyFileFormat.spki.bytes(of: key)) + rest
        }
    }

    private func signature(of signed: Data) throws -> Data {
        let digests: [Digest: DigestAlgorithm] = [.sha1: .sha1, .sha256: .sha256]
        // Nobody looks at one with MD5.
        guard let function = digests[digest] else { return Data(count: 64) }
        switch signer {
        case .rsa(let key): return try key.sign(signed, .rsaPKCS1(.message, function))
        case .ec(let key): return try key.sign(signed, .ecdsa(.x962, .message, function))
        }
    }

    private func algorithm(_ digest: Digest, withNull: Bool = true) -> Data {
        let name =
            switch (signer.kind, digest) {
            case (_, .md5): "1.2.840.113549.1.1.4"
            case (.rsa, .sha1): "1.2.840.113549.1.1.5"
            case (.rsa, .sha256): "1.2.840.113549.1.1.11"
            case (.ec, .sha1): "1.2.840.10045.4.1"
            case (.ec, .sha256): "1.2.840.10045.4.3.2"
            }
        let parameters = withNull && (signer.kind == .rsa || digest == .md5) ? OpenSSL.node(0x05, Data()) : Data()
        return OpenSSL.node(0x30, OpenSSL.identifier(name) + parameters)
    }

    /// One common name.
    ///
    /// - Parameter tag: The kind of text, UTF-8 if nothing else is said.
    package static func name(_ text: String?, tag: UInt8 = 0x0C) -> Data {
        guard let text else { return OpenSSL.node(0x30, Data()) }
        let attribute = OpenSSL.node(0x30, OpenSSL.identifier("2.5.4.3") + OpenSSL.node(tag, Data(text.utf8)))
        return OpenSSL.node(0x30, OpenSSL.node(0x31, attribute))
    }

    /// `GeneralizedTime`, for every year.
    private static func time(_ date: Date) -> Data {
        var (seconds, parts) = (time_t(date.timeIntervalSince1970), tm())
        gmtime_r(&seconds, &parts)
        let numbers = [
            parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
        ]
        let digits = numbers.enumerated().map { String(format: $0 == 0 ? "%04d" : "%02d", $1) }.joined()
        return OpenSSL.node(0x18, Data((digits + "Z").utf8))
    }
}

package struct CertificateExtensionRecipe: Sendable {
    package let identifier: String
    var isCritical: Bool
    package let content: Data

    package init(_ identifier: String, critical: Bool = false, _ content: Data) {
        (self.identifier, isCritical, self.content) = (identifier, critical, content)
    }

    fileprivate var der: Data {
        OpenSSL.node(
            0x30,
            OpenSSL.identifier(identifier) + (isCritical ? OpenSSL.node(0x01, Data([0xFF])) : Data())
                + OpenSSL.node(0x04, content))
    }

    package static func basicConstraints(isAuthority: Bool = true, _ most: UInt8? = nil) -> Self {
        let flag = isAuthority ? OpenSSL.node(0x01, Data([0xFF])) : Data()
        let number = most.map { OpenSSL.node(0x02, Data([$0])) } ?? Data()
        return Self("2.5.29.19", critical: true, OpenSSL.node(0x30, flag + number))
    }

    /// - Parameter bits: The first byte: 0x80 signs data, 0x04 signs certificates.
    package static func keyUsage(_ bits: UInt8) -> Self {
        Self("2.5.29.15", critical: true, OpenSSL.node(0x03, Data([UInt8(bits.trailingZeroBitCount), bits])))
    }

    package static func purposes(_ identifiers: String..., critical: Bool = false) -> Self {
        Self("2.5.29.37", critical: critical, OpenSSL.node(0x30, identifiers.map(OpenSSL.identifier).reduce(Data(), +)))
    }

    package static let server = purposes("1.3.6.1.5.5.7.3.1")
    package static let client = purposes("1.3.6.1.5.5.7.3.2")

    package enum Name: Sendable {
        case host(String)
        case emailAddress(String)
        case address([UInt8])
        case directory(String)
        case uri(String)
        /// A name as encoded.
        case encoded(Data)

        fileprivate var der: Data {
            switch self {
            case .encoded(let bytes): bytes
            case .emailAddress(let text): OpenSSL.node(0x81, Data(text.utf8))
            case .host(let text): OpenSSL.node(0x82, Data(text.utf8))
            case .directory(let text): OpenSSL.node(0xA4, CertificateRecipe.name(text))
            case .uri(let text): OpenSSL.node(0x86, Data(text.utf8))
            case .address(let bytes): OpenSSL.node(0x87, Data(bytes))
            }
        }
    }

    package static func names(_ names: [Name], critical: Bool = false) -> Self {
        Self("2.5.29.17", critical: critical, OpenSSL.node(0x30, names.map(\.der).reduce(into: Data(), +=)))
    }

    package static func nameConstraints(permitted: [Name] = [], excluded: [Name] = []) -> Self {
        func list(_ tag: UInt8, _ names: [Name]) -> Data {
            names.isEmpty
                ? Data() : OpenSSL.node(tag, names.map { OpenSSL.node(0x30, $0.der) }.reduce(into: Data(), +=))
        }
        return Self(
            "2.5.29.30", critical: true, OpenSSL.node(0x30, list(0xA0, permitted) + list(0xA1, excluded)))
    }

    /// - Parameter qualifier: The kind of a qualifier that each has.
    package static func policies(_ identifiers: String..., qualifier: String? = nil, critical: Bool = false) -> Self {
        let rest = qualifier.map { kind in
            OpenSSL.node(0x30, OpenSSL.node(0x30, OpenSSL.identifier(kind) + OpenSSL.node(0x16, Data("text".utf8))))
        }
        let all = identifiers.map { OpenSSL.node(0x30, OpenSSL.identifier($0) + (rest ?? Data())) }
        return Self("2.5.29.32", critical: critical, OpenSSL.node(0x30, all.reduce(Data(), +)))
    }

    package static func requireExplicitPolicy(_ count: UInt8) -> Self {
        Self("2.5.29.36", critical: true, OpenSSL.node(0x30, OpenSSL.node(0x80, Data([count]))))
    }

    package static func policyMapping(_ issuer: String, _ subject: String) -> Self {
        Self(
            "2.5.29.33", critical: true,
            OpenSSL.node(
                0x30, OpenSSL.node(0x30, OpenSSL.identifier(issuer) + OpenSSL.identifier(subject))))
    }

    package static func subjectKeyIdentifier(_ bytes: Data) -> Self { Self("2.5.29.14", OpenSSL.node(0x04, bytes)) }

    package static func authorityKeyIdentifier(_ bytes: Data) -> Self {
        Self("2.5.29.35", OpenSSL.node(0x30, OpenSSL.node(0x80, bytes)))
    }
}

extension OpenSSL {
    /// OBJECT IDENTIFIER of numbers with dots between them.
    package static func identifier(_ text: String) -> Data {
        let numbers = text.split(separator: ".").map { Int($0)! }
        let bytes = ([numbers[0] * 40 + numbers[1]] + numbers.dropFirst(2)).flatMap { number -> [UInt8] in
            var digits = [UInt8(number & 0x7F)]
            var rest = number >> 7
            while rest > 0 {
                digits.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            return digits
        }
        return node(0x06, Data(bytes))
    }
}
