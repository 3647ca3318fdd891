package import FoundationEssentials
package import KeychainKeys
package import KeychainModel
internal import SwiftASN1

/// A file of certificates and perhaps of their keys. Its content tells which kind it is.
package enum CertificateFile: Sendable {
    /// DER, PEM or PKCS#7. Keys are only in PEM files.
    case plain(certificates: [X509Certificate], keys: [KeyFile])
    case pkcs12(PKCS12File)

    package static let mostBytes = PKCS12File.mostBytes

    /// - Throws: `.parameter` for a key that is not taken, `.decode` for anything else.
    package init(_ bytes: Data) throws(KeychainError) {
        guard bytes.count <= Self.mostBytes else { throw Self.failure("it has more than 4 MiB") }
        let bytes = Array(bytes)
        if let blocks = try PEMBlock.all(in: bytes, { Self.isCertificate($0) || Self.isPKCS7($0) || Self.isKey($0) }) {
            self = try Self.plain(blocks)
            return
        }
        switch Self.firstElement(of: bytes) {
        case .integer: self = .pkcs12(try PKCS12File(Data(bytes)))
        case .objectIdentifier: self = .plain(certificates: try Self.signed(bytes), keys: [])
        case .sequence: self = .plain(certificates: try Self.certificates(Data(bytes)), keys: [])
        default: throw Self.failure("it is none of DER, PEM, PKCS#7 and PKCS#12")
        }
    }

    private static func isCertificate(_ label: String) -> Bool {
        ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains(label)
    }
    private static func isPKCS7(_ label: String) -> Bool { ["PKCS7", "CMS", "PKCS #7 SIGNED DATA"].contains(label) }
    private static func isKey(_ label: String) -> Bool { label.hasSuffix("PRIVATE KEY") }

    private static func plain(_ blocks: [PEMBlock]) throws(KeychainError) -> CertificateFile {
        var (certificates, keys) = ([X509Certificate](), [KeyFile]())
        for block in blocks {
            if isKey(block.label) {
                keys.append(try KeyFile(block))
            } else if isPKCS7(block.label) {
                certificates += try signed(block.bytes)
            } else if block.label.hasPrefix("TRUSTED") {
                // OpenSSL puts its own notes behind the certificate.
                certificates.append(try certificate(Data(block.bytes)))
            } else {
                certificates += try Self.certificates(Data(block.bytes))
            }
        }
        guard !certificates.isEmpty || !keys.isEmpty else { throw failure("the text has no certificate") }
        return .plain(certificates: certificates, keys: keys)
    }

    /// Reads certificates that stand one after the other.
    private static func certificates(_ bytes: Data) throws(KeychainError) -> [X509Certificate] {
        var (certificates, rest) = ([X509Certificate](), bytes[...])
        while !rest.isEmpty {
            let next = try certificate(rest)
            certificates.append(next)
            rest = rest.dropFirst(next.der.count)
        }
        return certificates
    }

    private static func certificate(_ bytes: Data) throws(KeychainError) -> X509Certificate {
        do {
            return try X509Certificate(bytes)
        } catch {
            throw failure("it is no certificate, or a damaged one", error)
        }
    }

    private static func signed(_ bytes: [UInt8]) throws(KeychainError) -> [X509Certificate] {
        do {
            return try SignedCertificates.all(in: BER.parse(bytes))
        } catch {
            throw failure("it is no PKCS#7 of certificates, or a damaged one", error)
        }
    }

    /// The type of the first thing in a SEQUENCE.
    private static func firstElement(of bytes: [UInt8]) -> ASN1Identifier? {
        guard bytes.first == 0x30, bytes.count > 6 else { return nil }
        // The length has one byte, or as many more as it says; 0x80 marks the end instead.
        let lengthCount = bytes[1] <= 0x80 ? 0 : Int(bytes[1] & 0x7F)
        guard lengthCount <= 4 else { return nil }
        switch bytes[2 + lengthCount] {
        case 0x02: return .integer
        case 0x06: return .objectIdentifier
        case 0x30: return .sequence
        default: return nil
        }
    }

    private static func failure(_ reason: String, _ cause: (any Error)? = nil) -> KeychainError {
        KeychainError(.decode, message: "the file is no file of certificates: \(reason)", cause: cause)
    }
}

/// The certificates and keys of several files, each only once.
package struct CertificateCollection {
    package private(set) var certificates: [X509Certificate] = []
    /// The keys, each with its name in a PKCS#12 file.
    package private(set) var keys: [(key: AsymmetricKey, name: String?)] = []
    private var known: Set<Data> = []

    package init() {}

    /// - Parameter passphrase: Reads the passphrase of the file, if one is needed.
    package mutating func append(_ file: CertificateFile, passphrase: () throws -> SecretBytes) throws {
        switch file {
        case .plain(let certificates, let keys):
            for certificate in certificates { append(certificate) }
            for key in keys {
                switch key {
                case .key(let key): append(key, nil)
                case .encrypted(let key): append(try key.key(try passphrase()), nil)
                }
            }
        case .pkcs12(let file):
            let content = try file.open(try passphrase())
            for (certificate, _) in content.certificates { append(certificate) }
            for (key, mark) in content.keys { append(key, mark.name) }
        }
    }

    private mutating func append(_ certificate: X509Certificate) {
        if known.insert(certificate.fingerprint).inserted { certificates.append(certificate) }
    }

    private mutating func append(_ key: AsymmetricKey, _ name: String?) {
        if known.insert(key.publicBytes).inserted { keys.append((key, name)) }
    }

    package func certificate(of key: AsymmetricKey) -> X509Certificate? {
        let label = key.label
        return certificates.first { $0.publicKeyHash == label }
    }
}
