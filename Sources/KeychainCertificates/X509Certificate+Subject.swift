package import Foundation
package import KeychainCrypto
internal import SwiftASN1

extension X509Certificate {
    /// The name by which a person tells the certificate from others: all texts of the best kind that there is, the last one first.
    package var summary: String? {
        let names = subject.texts(of: .commonName)
        if !names.isEmpty {
            let name = Self.joined(names)
            return subject.texts(of: .description).isEmpty
                ? name : "\(name) (\(Self.joined(subject.texts(of: .description))))"
        }
        if let address = emailAddresses.first { return address }
        if let host = extensions.alternativeNames?.hosts.first { return host }
        for type in [ASN1ObjectIdentifier.organizationalUnit, .organization] where !subject.texts(of: type).isEmpty {
            return Self.joined(subject.texts(of: type))
        }
        let others = subject.texts(besides: [.commonName, .organizationalUnit, .organization])
        return others.isEmpty ? nil : Self.joined(others)
    }

    private static func joined(_ texts: [String]) -> String { texts.reversed().joined(separator: ", ") }

    /// Those of the alternative names come before those of the subject.
    package var emailAddresses: [String] {
        (extensions.alternativeNames?.emailAddresses ?? []) + subject.texts(of: .emailAddress)
    }

    /// The label of the certificate's key, which joins the two to an identity.
    package var publicKeyHash: Data { AsymmetricKey.label(ofPublicBytes: Data(publicKey.key.bytes)) }

    /// nil for a key of a kind that `SecKey` does not have.
    package var key: AsymmetricKey? {
        let bytes = Data(publicKey.key.bytes)
        switch publicKey.algorithm.algorithm {
        case .rsaEncryption: return try? AsymmetricKey(.rsa, isPrivate: false, bytes)
        case .ecPublicKey:
            guard let parameters = publicKey.algorithm.parameters,
                let curve = Self.curves[(try? ASN1ObjectIdentifier(asn1Any: parameters)) ?? []],
                let key = try? ECKey(curve, point: bytes)
            else { return nil }
            return .ec(key)
        default: return nil
        }
    }

    private static let curves: [ASN1ObjectIdentifier: Curve] = [
        [1, 2, 840, 10045, 3, 1, 7]: .p256, [1, 3, 132, 0, 34]: .p384, [1, 3, 132, 0, 35]: .p521,
    ]
}

extension ASN1ObjectIdentifier {
    fileprivate static let rsaEncryption: Self = [1, 2, 840, 113549, 1, 1, 1]
    fileprivate static let ecPublicKey: Self = [1, 2, 840, 10045, 2, 1]
}
