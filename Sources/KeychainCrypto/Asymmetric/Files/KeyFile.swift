package import Foundation
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
        do {
            self = try Self.read(Array(bytes))
        } catch let flaw as KeyFileFlaw {
            throw flaw.error
        } catch let error as KeychainError {
            throw error
        } catch {
            throw KeyFileFlaw.damaged.error
        }
    }

    private static func read(_ bytes: [UInt8]) throws -> KeyFile {
        if let block = try PEMBlock.key(in: bytes) {
            return block.label == OpenSSHKey.label
                ? .key(try OpenSSHKey.privateKey(in: block.bytes)) : try der(block.bytes)
        }
        if bytes.starts(with: OpenSSHKey.magic) { return .key(try OpenSSHKey.privateKey(in: bytes)) }
        if bytes.first == 0x30 { return try der(bytes) }
        if bytes.first == 4 { return .key(try point(Data(bytes))) }
        return .key(try OpenSSHKey.publicKey(inLine: bytes))
    }

    /// 04 ‖ X ‖ Y ‖ K, or 04 ‖ X ‖ Y. The former on P-256 has as many bytes as the latter on P-384.
    private static func point(_ bytes: Data) throws -> AsymmetricKey {
        if let key = try? AsymmetricKey(.ec, isPrivate: true, bytes) { return key }
        return try AsymmetricKey(.ec, isPrivate: false, bytes)
    }

    /// Tells the structures apart by the types of their first two parts.
    private static func der(_ bytes: [UInt8]) throws -> KeyFile {
        let root = try DER.parse(bytes)
        guard root.identifier == .sequence, case .constructed(let nodes) = root.content else {
            throw KeyFileFlaw.damaged
        }
        let types = nodes.prefix(3).map(\.identifier)
        switch (types.first, types.dropFirst().first) {
        case (.integer, .sequence): return .key(try AsymmetricKey(privateKeyInfo: root))
        case (.integer, .octetString): return .key(.ec(try ECKey(sec1: root)))
        case (.integer, .integer):
            let isPrivate = types.count > 2
            return .key(.rsa(try isPrivate ? RSAKey(privateBytes: Data(bytes)) : RSAKey(publicBytes: Data(bytes))))
        case (.sequence, .bitString): return .key(try AsymmetricKey(publicKeyInfo: root))
        case (.sequence, .octetString): return .encrypted(try EncryptedKey(root))
        default: throw KeyFileFlaw.damaged
        }
    }
}
