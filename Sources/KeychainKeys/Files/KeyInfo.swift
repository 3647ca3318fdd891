internal import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel
internal import SwiftASN1

// The structures that say of which kind the key in them is.

extension AsymmetricKey {
    /// - Parameter bytes: `PrivateKeyInfo` of PKCS#8 in BER or DER.
    /// - Throws: `.parameter` for a key of a kind that is not known here, `.decode` for bytes that are no key.
    package init(pkcs8 bytes: ArraySlice<UInt8>) throws(KeychainError) {
        do {
            try self.init(privateKeyInfo: BER.parse(bytes))
        } catch let flaw as KeyFileFlaw {
            throw flaw.error
        } catch {
            throw KeyFileFlaw.damaged.error
        }
    }

    /// - Parameter root: `PrivateKeyInfo` of PKCS#8 (RFC 5958).
    init(privateKeyInfo root: ASN1Node) throws {
        self = try DER.sequence(root, identifier: .sequence) { nodes in
            let version = try Int(derEncoded: &nodes)
            guard 0...1 ~= version else { throw KeyFileFlaw.damaged }
            let kind = try KeyAlgorithmIdentifier(&nodes)
            let bytes = try ASN1OctetString(derEncoded: &nodes).bytes
            // Attributes and, from version 1 on, a copy of the public half.
            while nodes.next() != nil {}
            return switch kind {
            case .rsa: .rsa(try RSAKey(privateBytes: Data(bytes)))
            case .ec(let curve): .ec(try ECKey(curve, sec1: bytes))
            }
        }
    }

    /// - Parameter root: `SubjectPublicKeyInfo` (RFC 5280, section 4.1.2.7).
    init(publicKeyInfo root: ASN1Node) throws {
        self = try DER.sequence(root, identifier: .sequence) { nodes in
            let kind = try KeyAlgorithmIdentifier(&nodes)
            let bytes = Data(try ASN1BitString(derEncoded: &nodes).bytes)
            return switch kind {
            case .rsa: .rsa(try RSAKey(publicBytes: bytes))
            case .ec(let curve): .ec(try ECKey(curve, anyPoint: bytes))
            }
        }
    }

    /// `PrivateKeyInfo` of PKCS#8 in DER, or nil of a public half.
    var privateKeyInfo: Data? {
        get throws {
            guard isPrivate else { return nil }
            var serializer = DER.Serializer()
            try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                try serializer.serialize(0)
                try algorithmIdentifier.append(to: &serializer)
                try serializer.serialize(ASN1OctetString(contentBytes: Array(privateKeyBytes)[...]))
            }
            return Data(serializer.serializedBytes)
        }
    }

    /// `SubjectPublicKeyInfo` in DER, of either half.
    var publicKeyInfo: Data {
        get throws {
            var serializer = DER.Serializer()
            try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                try algorithmIdentifier.append(to: &serializer)
                try serializer.serialize(ASN1BitString(bytes: Array(publicBytes)[...]))
            }
            return Data(serializer.serializedBytes)
        }
    }

    private var algorithmIdentifier: KeyAlgorithmIdentifier {
        switch self {
        case .rsa: .rsa
        case .ec(let key): .ec(key.curve)
        }
    }

    private var privateKeyBytes: Data {
        get throws {
            switch self {
            case .rsa: externalRepresentation
            case .ec(let key): try key.sec1
            }
        }
    }
}

extension ECKey {
    /// - Parameter root: `ECPrivateKey` (RFC 5915) that names its curve.
    convenience init(sec1 root: ASN1Node) throws {
        let curve = try DER.sequence(root, identifier: .sequence) { nodes in
            _ = (nodes.next(), nodes.next())
            let parameters = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) { $0 }
            while nodes.next() != nil {}
            return try Curve(parameters)
        }
        try self.init(curve, sec1: root.encodedBytes)
    }

    /// `ECPrivateKey` without the curve, which the structure around it names.
    fileprivate var sec1: Data {
        get throws {
            var serializer = DER.Serializer()
            try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                try serializer.serialize(1)
                try serializer.serialize(ASN1OctetString(contentBytes: (privateNumber ?? [])[...]))
                try serializer.serialize(explicitlyTaggedWithTagNumber: 1, tagClass: .contextSpecific) { serializer in
                    try serializer.serialize(ASN1BitString(bytes: Array(point)[...]))
                }
            }
            return Data(serializer.serializedBytes)
        }
    }
}
