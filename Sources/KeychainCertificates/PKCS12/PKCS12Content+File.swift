package import FoundationEssentials
package import KeychainCrypto
internal import KeychainKeys
package import KeychainModel
internal import SwiftASN1

extension PKCS12Content {
    /// Three derivations are in a file, and Windows reads up to 600,000 rounds of them all.
    package static let rounds = 200_000

    /// Writes a file as OpenSSL 3 does by default: all of it under AES-256, with PBKDF2, and its code with SHA-256.
    ///
    /// - Parameter rounds: Tests give fewer than ``rounds``.
    package func file(
        _ passphrase: SecretBytes, rounds: Int = Self.rounds, _ randomness: some Randomness = SystemRandomness()
    ) throws(KeychainError) -> Data {
        let passphrase = FilePassphrase(passphrase)
        do {
            let encryption = try PassphraseEncryption(rounds: UInt32(rounds), randomness)
            let certificates = try Self.sealed(try bagsOfCertificates(), encryption, passphrase)
            var serializer = DER.Serializer()
            try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                try Self.append(encrypted: certificates, encryption, to: &serializer)
                let keys = try bagsOfKeys(passphrase, rounds: UInt32(rounds), randomness)
                try ContentInfo.append(data: keys, to: &serializer)
            }
            let content = serializer.serializedBytes
            let code = try PassphraseCode(for: content, passphrase, rounds: rounds, randomness)
            serializer = DER.Serializer()
            try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                try serializer.serialize(3)
                try ContentInfo.append(data: content, to: &serializer)
                serializer.serializeRawBytes(try code.der)
            }
            return Data(serializer.serializedBytes)
        } catch let error as KeychainError {
            throw error
        } catch {
            throw KeychainError(.internalFailure, message: "the PKCS#12 file cannot be written", cause: error)
        }
    }

    private static func sealed(
        _ bytes: [UInt8], _ encryption: PassphraseEncryption, _ passphrase: FilePassphrase
    ) throws(KeychainError) -> [UInt8] {
        guard let ciphertext = encryption.encrypt(bytes, passphrase) else {
            throw KeychainError(.allocation, message: "there is no memory for the PKCS#12 file")
        }
        return ciphertext
    }

    /// `ContentInfo` of `EncryptedData`.
    private static func append(
        encrypted ciphertext: [UInt8], _ encryption: PassphraseEncryption, to serializer: inout DER.Serializer
    ) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            try serializer.serialize(ASN1ObjectIdentifier.pkcs7EncryptedData)
            try serializer.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific) { serializer in
                try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                    try serializer.serialize(0)
                    try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                        try serializer.serialize(ASN1ObjectIdentifier.pkcs7Data)
                        serializer.serializeRawBytes(try encryption.der)
                        let tag = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
                        serializer.appendPrimitiveNode(identifier: tag) { $0 += ciphertext }
                    }
                }
            }
        }
    }

    /// `SafeContents`.
    private func bagsOfCertificates() throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            for (certificate, mark) in certificates {
                try Self.append(.certificateBag, mark, to: &serializer) { serializer in
                    try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                        try serializer.serialize(ASN1ObjectIdentifier.x509CertificateInBag)
                        try serializer.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific) {
                            serializer in
                            try serializer.serialize(ASN1OctetString(contentBytes: Array(certificate.der)[...]))
                        }
                    }
                }
            }
        }
        return serializer.serializedBytes
    }

    /// `SafeContents`.
    private func bagsOfKeys(
        _ passphrase: FilePassphrase, rounds: UInt32, _ randomness: some Randomness
    ) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            for (key, mark) in keys {
                let encryption = try PassphraseEncryption(rounds: rounds, randomness)
                let bytes = try Self.sealed(Array(try KeyFileFormat.der.bytes(of: key)), encryption, passphrase)
                try Self.append(.shroudedKeyBag, mark, to: &serializer) { serializer in
                    try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                        serializer.serializeRawBytes(try encryption.der)
                        try serializer.serialize(ASN1OctetString(contentBytes: bytes[...]))
                    }
                }
            }
        }
        return serializer.serializedBytes
    }

    private static func append(
        _ type: ASN1ObjectIdentifier, _ mark: PKCS12Mark, to serializer: inout DER.Serializer,
        _ value: (inout DER.Serializer) throws -> Void
    ) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            try serializer.serialize(type)
            try serializer.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific) { try value(&$0) }
            try mark.append(to: &serializer)
        }
    }
}
