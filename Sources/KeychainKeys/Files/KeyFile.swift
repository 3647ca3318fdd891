package import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel
internal import SwiftASN1

/// A key as other programs keep it in a file: PKCS#1, PKCS#8, SEC 1, `SubjectPublicKeyInfo`, each in DER or PEM,
/// OpenSSH's forms, and the bytes of ``AsymmetricKey/externalRepresentation``.
package enum KeyFile: Sendable {
    case key(AsymmetricKey)
    /// A private key that only its passphrase opens.
    case encrypted(EncryptedKey)

    package static let mostBytes = 1 << 20

    /// - Throws: `.parameter` for a key of another kind, an encryption that is not known, several keys and more than
    ///   ``mostBytes``; `.decode` for anything else that is no key.
    package init(_ bytes: Data) throws(KeychainError) {
        guard bytes.count <= Self.mostBytes else {
            throw KeychainError(.parameter, message: "the file of a key has at most 1 MiB")
        }
        self = try Self.tellingFlaws { try Self.read(Array(bytes)) }
    }

    /// - Throws: as for a whole file, and `.parameter` if the block holds something else than its label says.
    package init(_ block: PEMBlock) throws(KeychainError) { self = try Self.tellingFlaws { try Self.read(block) } }

    private static func tellingFlaws(_ read: () throws -> KeyFile) throws(KeychainError) -> KeyFile {
        do {
            return try read()
        } catch let flaw as KeyFileFlaw {
            throw flaw.error
        } catch let error as KeychainError {
            throw error
        } catch {
            throw KeyFileFlaw.damaged.error
        }
    }

    private static func read(_ bytes: [UInt8]) throws -> KeyFile {
        if let block = try PEMBlock.key(in: bytes) { return try read(block) }
        if bytes.starts(with: OpenSSHKey.magic) { return .key(try OpenSSHKey.privateKey(in: bytes)) }
        if bytes.first == 0x30 { return try read(DER.parse(bytes)) }
        if bytes.first == 4 { return .key(try point(Data(bytes))) }
        return .key(try OpenSSHKey.publicKey(inLine: bytes))
    }

    private static func read(_ block: PEMBlock) throws -> KeyFile {
        if block.label == OpenSSHKey.label { return .key(try OpenSSHKey.privateKey(in: block.bytes)) }
        let root = try DER.parse(block.bytes)
        if let promised = structures[block.label], try Structure(root) != promised {
            throw KeyFileFlaw.noKey("the block says \(block.label), and holds something else")
        }
        return try read(root)
    }

    /// 04 ‖ X ‖ Y ‖ K, or 04 ‖ X ‖ Y. The former on P-256 has as many bytes as the latter on P-384.
    private static func point(_ bytes: Data) throws -> AsymmetricKey {
        if let key = try? AsymmetricKey(.ec, isPrivate: true, bytes) { return key }
        return try AsymmetricKey(.ec, isPrivate: false, bytes)
    }

    private enum Structure {
        case pkcs8, encryptedPKCS8, sec1, rsaPrivateKey, rsaPublicKey, publicKeyInfo

        /// Tells the structures apart by the types of their first two parts.
        init(_ root: ASN1Node) throws {
            guard root.identifier == .sequence, case .constructed(let nodes) = root.content else {
                throw KeyFileFlaw.damaged
            }
            let types = nodes.prefix(3).map(\.identifier)
            switch (types.first, types.dropFirst().first) {
            case (.integer, .sequence): self = .pkcs8
            case (.integer, .octetString): self = .sec1
            case (.integer, .integer): self = types.count > 2 ? .rsaPrivateKey : .rsaPublicKey
            case (.sequence, .bitString): self = .publicKeyInfo
            case (.sequence, .octetString): self = .encryptedPKCS8
            default: throw KeyFileFlaw.damaged
            }
        }
    }

    /// RFC 7468, sections 10, 11 and 13, and OpenSSL's labels of the older structures. Other labels promise nothing.
    private static let structures: [String: Structure] = [
        "PRIVATE KEY": .pkcs8, "ENCRYPTED PRIVATE KEY": .encryptedPKCS8, "EC PRIVATE KEY": .sec1,
        "RSA PRIVATE KEY": .rsaPrivateKey, "RSA PUBLIC KEY": .rsaPublicKey, "PUBLIC KEY": .publicKeyInfo,
    ]

    private static func read(_ root: ASN1Node) throws -> KeyFile {
        switch try Structure(root) {
        case .pkcs8: .key(try AsymmetricKey(privateKeyInfo: root))
        case .encryptedPKCS8: .encrypted(try EncryptedKey(root))
        case .sec1: .key(.ec(try ECKey(sec1: root)))
        case .rsaPrivateKey: .key(.rsa(try RSAKey(privateBytes: Data(root.encodedBytes))))
        case .rsaPublicKey: .key(.rsa(try RSAKey(publicBytes: Data(root.encodedBytes))))
        case .publicKeyInfo: .key(try AsymmetricKey(publicKeyInfo: root))
        }
    }
}
