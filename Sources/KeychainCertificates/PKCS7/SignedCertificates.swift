internal import FoundationEssentials
internal import SwiftASN1

/// The certificates of a `SignedData` (RFC 2315, section 9.1; RFC 5652, section 5.1). Files of certificates have no
/// signatures, and none is looked at here.
enum SignedCertificates {
    /// - Parameter root: A `ContentInfo` in BER.
    static func all(in root: ASN1Node) throws -> [X509Certificate] {
        let info = try ContentInfo(root)
        guard info.type == .pkcs7SignedData, let content = info.content else {
            throw ASN1Error.invalidASN1Object(reason: "PKCS#7 of certificates is signed data")
        }
        return try DER.sequence(content, identifier: .sequence) { nodes in
            // The version, the digests and the content.
            for _ in 0..<3 where nodes.next() == nil {
                throw ASN1Error.invalidASN1Object(reason: "signed data has a version, digests and content")
            }
            // Certificates, lists of revoked ones and signers, each of which may be missing.
            let rest = Array(IteratorSequence(nodes))
            while nodes.next() != nil {}
            guard let list = rest.first, list.identifier == tag, case .constructed(let certificates) = list.content
            else { return [] }
            // Certificates of older kinds have tags of their own.
            return try certificates.filter { $0.identifier == .sequence }.map {
                try X509Certificate(Data($0.encodedBytes))
            }
        }
    }

    private static let tag = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
}
