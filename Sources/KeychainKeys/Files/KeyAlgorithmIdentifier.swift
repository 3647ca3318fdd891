package import KeychainCrypto
package import SwiftASN1

/// The kind of a key as `AlgorithmIdentifier` says it (RFC 3279, RFC 5480).
enum KeyAlgorithmIdentifier {
    case rsa
    case ec(Curve)

    /// - Throws: ``KeyFileFlaw/otherKind(_:)`` for any other.
    init(_ nodes: inout ASN1NodeCollection.Iterator) throws {
        self = try nodes.sequence { nodes in
            let kind = try ASN1ObjectIdentifier(derEncoded: &nodes)
            let parameters = nodes.next()
            while nodes.next() != nil {}
            switch kind {
            case .AlgorithmIdentifier.rsaEncryption: return .rsa
            case .AlgorithmIdentifier.idEcPublicKey: return .ec(try Curve(parameters))
            default: throw KeyFileFlaw.otherKind(kind.nameOfKey)
            }
        }
    }

    func append(to serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            switch self {
            case .rsa:
                try serializer.serialize(ASN1ObjectIdentifier.AlgorithmIdentifier.rsaEncryption)
                try serializer.serialize(ASN1Null())
            case .ec(let curve):
                try serializer.serialize(ASN1ObjectIdentifier.AlgorithmIdentifier.idEcPublicKey)
                try serializer.serialize(curve.objectIdentifier)
            }
        }
    }
}

extension Curve {
    /// - Returns: nil for the name of another curve.
    package init?(objectIdentifier name: ASN1ObjectIdentifier) {
        guard let curve = Curve.allCases.first(where: { $0.objectIdentifier == name }) else { return nil }
        self = curve
    }

    var objectIdentifier: ASN1ObjectIdentifier {
        switch self {
        case .p256: .NamedCurves.secp256r1
        case .p384: .NamedCurves.secp384r1
        case .p521: .NamedCurves.secp521r1
        }
    }

    /// - Parameter parameters: `ECParameters` (RFC 5480, section 2.1.1), of which only names are known.
    init(_ parameters: ASN1Node?) throws {
        guard let parameters else { throw KeyFileFlaw.damaged }
        guard parameters.identifier != .sequence else {
            throw KeyFileFlaw.otherKind("of a curve that is not named but described")
        }
        let name = try ASN1ObjectIdentifier(derEncoded: parameters)
        guard let curve = Curve(objectIdentifier: name) else { throw KeyFileFlaw.otherKind(name.nameOfKey) }
        self = curve
    }
}

extension ASN1ObjectIdentifier {
    /// Kinds of keys and curves that are in use, and not known here.
    private static let others: [ASN1ObjectIdentifier: String] = [
        [1, 3, 101, 110]: "X25519", [1, 3, 101, 111]: "X448", [1, 3, 101, 112]: "Ed25519", [1, 3, 101, 113]: "Ed448",
        [1, 2, 840, 10_040, 4, 1]: "DSA", [1, 2, 840, 113_549, 1, 3, 1]: "DH", [1, 2, 840, 10_046, 2, 1]: "DH",
        [1, 2, 840, 113_549, 1, 1, 10]: "RSA-PSS", [1, 3, 132, 0, 10]: "secp256k1", [1, 3, 132, 0, 33]: "P-224",
        [1, 2, 840, 10_045, 3, 1, 1]: "P-192", [1, 3, 36, 3, 3, 2, 8, 1, 1, 7]: "brainpoolP256r1",
        [1, 3, 36, 3, 3, 2, 8, 1, 1, 11]: "brainpoolP384r1", [1, 3, 36, 3, 3, 2, 8, 1, 1, 13]: "brainpoolP512r1",
        [2, 16, 840, 1, 101, 3, 4, 3, 17]: "ML-DSA-44", [2, 16, 840, 1, 101, 3, 4, 3, 18]: "ML-DSA-65",
        [2, 16, 840, 1, 101, 3, 4, 3, 19]: "ML-DSA-87",
    ]

    fileprivate var nameOfKey: String { Self.others[self] ?? description }
}

extension ASN1NodeCollection.Iterator {
    /// Reads a SEQUENCE to its end.
    mutating func sequence<T>(_ body: (inout ASN1NodeCollection.Iterator) throws -> T) throws -> T {
        guard let node = next() else { throw KeyFileFlaw.damaged }
        return try DER.sequence(node, identifier: .sequence, body)
    }
}
