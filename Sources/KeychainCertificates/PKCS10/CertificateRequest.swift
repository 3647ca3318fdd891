package import FoundationEssentials
internal import KeychainCrypto
package import KeychainKeys
package import KeychainModel
internal import SwiftASN1

/// A request for a certificate (PKCS#10, RFC 2986), signed by the key that the certificate is to be for.
package struct CertificateRequest {
    /// The signed bytes.
    package let content: Data
    package let algorithm: KeyAlgorithm.Signature
    private let identifier: [UInt8]

    /// - Parameter key: The public half, or the pair.
    package init(
        subject: RequestedName, alternativeNames: [RequestedAlternativeName], key: AsymmetricKey
    ) throws(KeychainError) {
        do {
            var serializer = DER.Serializer()
            let publicKey = try KeyFileFormat.spki.bytes(of: key)
            try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                try serializer.serialize(0)
                try subject.append(to: &serializer)
                serializer.serializeRawBytes(publicKey)
                let tag = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
                try serializer.appendConstructedNode(identifier: tag) { serializer in
                    if !alternativeNames.isEmpty { try Self.append(alternativeNames, to: &serializer) }
                }
            }
            content = Data(serializer.serializedBytes)
            (algorithm, identifier) = try Self.algorithm(key)
        } catch let error as KeychainError {
            throw error
        } catch {
            throw KeychainError(.internalFailure, message: "the request cannot be written", cause: error)
        }
    }

    /// The attribute `extensionRequest` with one extension.
    private static func append(
        _ names: [RequestedAlternativeName], to serializer: inout DER.Serializer
    ) throws {
        var value = DER.Serializer()
        value.appendConstructedNode(identifier: .sequence) { serializer in
            for name in names { name.append(to: &serializer) }
        }
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            try serializer.serialize([1, 2, 840, 113_549, 1, 9, 14] as ASN1ObjectIdentifier)
            try serializer.appendConstructedNode(identifier: .set) { serializer in
                try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                    try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                        try serializer.serialize([2, 5, 29, 17] as ASN1ObjectIdentifier)
                        try serializer.serialize(ASN1OctetString(contentBytes: value.serializedBytes[...]))
                    }
                }
            }
        }
    }

    /// The usual digest for keys of this size, and the `AlgorithmIdentifier`.
    private static func algorithm(_ key: AsymmetricKey) throws -> (KeyAlgorithm.Signature, [UInt8]) {
        let (algorithm, name): (KeyAlgorithm.Signature, ASN1ObjectIdentifier) =
            switch key {
            case .rsa: (.rsaPKCS1(.message, .sha256), .AlgorithmIdentifier.sha256WithRSAEncryption)
            case .ec(let key) where key.curve == .p384:
                (.ecdsa(.x962, .message, .sha384), [1, 2, 840, 10_045, 4, 3, 3])
            case .ec(let key) where key.curve == .p521:
                (.ecdsa(.x962, .message, .sha512), [1, 2, 840, 10_045, 4, 3, 4])
            case .ec: (.ecdsa(.x962, .message, .sha256), [1, 2, 840, 10_045, 4, 3, 2])
            }
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            try serializer.serialize(name)
            if case .rsa = key { try serializer.serialize(ASN1Null()) }
        }
        return (algorithm, serializer.serializedBytes)
    }

    /// The request in DER.
    ///
    /// - Parameter signature: The signature of ``content`` by ``algorithm``.
    package func der(signature: Data) throws(KeychainError) -> Data {
        do {
            var serializer = DER.Serializer()
            try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                serializer.serializeRawBytes(content)
                serializer.serializeRawBytes(identifier)
                try serializer.serialize(ASN1BitString(bytes: Array(signature)[...]))
            }
            return Data(serializer.serializedBytes)
        } catch {
            throw KeychainError(.internalFailure, message: "the request cannot be written", cause: error)
        }
    }
}
