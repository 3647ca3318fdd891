internal import Foundation
internal import KeychainModel

/// The attributes that an item has because of the certificate in it.
struct CertificateAttributes {
    private let certificate: SecCertificate
    private var contents: X509Certificate { certificate.contents }

    init(_ certificate: SecCertificate) { self.certificate = certificate }

    /// Those by which a certificate is told from all others.
    var identifying: AttributeSet {
        var attributes: AttributeSet = [
            .certificateType: .number(Int64(contents.version)), .serialNumber: .data(Data(contents.serialNumber)),
        ]
        attributes[.issuer] = (try? contents.issuer.normalizedContent).map { .data($0) }
        return attributes
    }

    /// All that an item for the certificate has.
    var all: AttributeSet {
        var attributes = identifying
        attributes[.certificateEncoding] = .number(Self.derEncoding)
        attributes[.subject] = (try? contents.subject.normalizedContent).map { .data($0) }
        attributes[.subjectKeyID] = contents.extensions.subjectKeyIdentifier.map { .data($0) }
        attributes[.publicKeyHash] = .data(contents.publicKeyHash)
        attributes[.label] = contents.summary.map { .text($0) }
        return attributes
    }

    /// Apple's number of DER among the encodings of certificates.
    private static let derEncoding: Int64 = 3
}

extension SecCertificate {
    /// Makes the certificate that an item holds.
    ///
    /// - Throws: `.decode` if its bytes are none.
    convenience init(_ secret: SecretBytes?) throws(KeychainError) {
        do {
            try self.init(secret?.copyData() ?? Data())
        } catch {
            throw KeychainError(
                .decode, message: "the item's bytes are no certificate: ask for kSecReturnData instead", cause: error)
        }
    }
}
