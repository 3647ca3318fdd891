package import FoundationEssentials
package import KeychainModel

/// The form of a key that leaves the keychain.
package enum KeyFileFormat: String, Sendable, CaseIterable {
    /// ``AsymmetricKey/externalRepresentation``.
    case raw
    /// ``der`` as text.
    case pem
    /// PKCS#8 of a private half, `SubjectPublicKeyInfo` of a public one.
    case der
    /// `SubjectPublicKeyInfo` in DER, of either half.
    case spki
    /// `openssh-key-v1` of a private half, the line of `.pub` files of a public one.
    case ssh
    case jwk

    /// The file's content. Texts end with a line feed. Nothing of it is under a passphrase.
    package func bytes(of key: AsymmetricKey) throws(KeychainError) -> Data {
        do {
            return switch self {
            case .raw: key.externalRepresentation
            case .pem: Data(try Self.pem(key).utf8)
            case .der: try key.privateKeyInfo ?? key.publicKeyInfo
            case .spki: try key.publicKeyInfo
            case .ssh:
                Data((try key.isPrivate ? OpenSSHKey.privateText(of: key) : OpenSSHKey.publicLine(of: key) + "\n").utf8)
            case .jwk: Data((try JSONWebKey.text(of: key) + "\n").utf8)
            }
        } catch {
            throw KeychainError(.internalFailure, message: "the key cannot be written in this form", cause: error)
        }
    }

    private static func pem(_ key: AsymmetricKey) throws -> String {
        if let bytes = try key.privateKeyInfo { return PEMBlock.text("PRIVATE KEY", bytes) }
        return PEMBlock.text("PUBLIC KEY", try key.publicKeyInfo)
    }
}
