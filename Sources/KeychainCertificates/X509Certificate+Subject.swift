package import FoundationEssentials
internal import KeychainCrypto
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
        if let host = alternatives(\.hosts).first { return host }
        for type in [ASN1ObjectIdentifier.organizationalUnit, .organization] where !subject.texts(of: type).isEmpty {
            return Self.joined(subject.texts(of: type))
        }
        let others = subject.texts(besides: [.commonName, .organizationalUnit, .organization])
        return others.isEmpty ? nil : Self.joined(others)
    }

    private static func joined(_ texts: [String]) -> String { texts.reversed().joined(separator: ", ") }

    /// The addresses of the alternative names come before those of the subject.
    package var emailAddresses: [String] {
        alternatives(\.emailAddresses) + subject.texts(of: .emailAddress)
    }

    private func alternatives(_ kind: (AlternativeNames) -> [String]) -> [String] {
        extensions.alternativeNames.reading(absent: [], unreadable: [], kind)
    }

    /// The label of the certificate's key, which joins the two to an identity.
    package var publicKeyHash: Data { KeyItemAttributes.label(ofPublicBytes: Data(publicKey.key.bytes)) }
}
