package import KeychainModel

/// The attributes that an item has because of the certificate in it.
package struct CertificateAttributes {
    private let contents: X509Certificate

    package init(_ certificate: X509Certificate) { contents = certificate }

    /// The attributes by which a certificate is told from all others.
    package var identifying: AttributeSet {
        var attributes: AttributeSet = [
            .certificateType: .number(Int64(contents.version)), .serialNumber: .data(contents.serialNumber),
        ]
        attributes[.issuer] = .data(contents.issuerName)
        return attributes
    }

    /// The attributes of an item for the certificate.
    package var all: AttributeSet {
        var attributes = identifying
        attributes[.certificateEncoding] = .number(Self.derEncoding)
        attributes[.subject] = .data(contents.subjectName)
        attributes[.subjectKeyID] = contents.extensions.subjectKeyIdentifier.reading(absent: nil, unreadable: nil) {
            .data($0.bytes)
        }
        attributes[.publicKeyHash] = .data(contents.publicKeyHash)
        attributes[.label] = contents.summary.map { .text($0) }
        return attributes
    }

    /// Apple's number of DER among the encodings of certificates.
    private static let derEncoding: Int64 = 3
}
