// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import KeychainCertificates
internal import KeychainModel

/// The object is an X.509 certificate that was read from its bytes and never checked for trust.
///
/// Two certificates are equal if their DER encodings are equal.
public final class SecCertificate: NSObject, @unchecked Sendable {  // immutable
    let contents: X509Certificate
    var der: Data { contents.der }

    init(_ contents: X509Certificate) {
        self.contents = contents
        super.init()
    }

    /// - Parameter bytes: A certificate in DER. Bytes behind the certificate are cut off.
    convenience init(_ bytes: Data) throws { self.init(try X509Certificate(bytes)) }

    /// Two certificates are equal if their DER encodings are equal.
    override public func isEqual(_ object: Any?) -> Bool {
        (object as? SecCertificate)?.der == der
    }

    /// Equal certificates have equal hashes within one process.
    override public var hash: Int { der.hashValue }

    /// The text names the certificate's subject, for logs.
    override public var description: String {
        "<SecCertificate: \(contents.summary ?? "no subject")>"
    }
}

extension SecCertificate {
    /// Makes the certificate that an item holds.
    ///
    /// - Throws: `.decode` if its bytes are no certificate.
    convenience init(_ secret: SecretBytes?) throws(KeychainError) {
        do {
            try self.init(secret?.copyData() ?? Data())
        } catch {
            throw KeychainError(
                .decode, message: "the item's bytes are no certificate: ask for kSecReturnData instead", cause: error)
        }
    }
}

/// Reads a certificate from its DER encoding.
///
/// The function checks the whole structure. It checks neither the signature nor the period of validity.
///
/// - Parameters:
///   - allocator: The allocator is accepted and not used.
///   - data: The bytes of an X.509 certificate (RFC 5280) of version 1, 2 or 3. Bytes after it are cut off. PEM is refused.
/// - Returns: The certificate, or nil. A critical extension that is known here and malformed makes it nil as well.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    try? SecCertificate(Data(copying: data))
}

/// Returns the DER encoding, byte for byte as the certificate was read from it.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    NSData(data: certificate.der)
}

/// Returns a short name by which a person tells the certificate from others.
///
/// The name is the subject's common name, with its description in parentheses if it has one. Without a common name it is the first mail
/// address, else the first host, else the unit or the organisation, else all other texts. Several texts of one kind are joined, the
/// last one first. The name is no proof of anything, since the certificate was not verified.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.contents.summary as NSString?
}

/// Gives the subject's common name.
///
/// - Parameters:
///   - certificate: The certificate.
///   - commonName: The place receives the last common name. It stays untouched if there is none.
/// - Returns: `errSecSuccess`, or ``errSecInternal`` if there is none.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    guard let name = certificate.contents.subject.commonNames.last else { return errSecInternal }
    commonName.pointee = name as NSString
    return errSecSuccess
}

/// Gives the subject's mail addresses: those of the alternative names, and then those of the subject itself.
///
/// - Parameters:
///   - certificate: The certificate.
///   - emailAddresses: The place receives an array of texts, which may be empty.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    emailAddresses.pointee = certificate.contents.emailAddresses.map { $0 as NSString } as NSArray
    return errSecSuccess
}

/// Returns the issuer's name in the form in which names are compared: a SEQUENCE in DER, in which printable texts have capital letters and
/// single blanks.
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    (try? certificate.contents.issuer.normalizedSequence).map { NSData(data: $0) }
}

/// Returns the subject's name in the form in which names are compared, as
/// ``SecCertificateCopyNormalizedIssuerSequence(_:)`` does.
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    (try? certificate.contents.subject.normalizedSequence).map { NSData(data: $0) }
}

/// Returns the certificate's public key.
///
/// - Returns: The key, or nil if it is neither an RSA key nor one on P-256, P-384 or P-521.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    certificate.contents.key.map { SecKey($0) }
}

/// Returns the certificate's public key, as ``SecCertificateCopyKey(_:)`` does.
@available(*, deprecated, message: "use SecCertificateCopyKey")
public func SecCertificateCopyPublicKey(_ certificate: SecCertificate) -> SecKey? {
    SecCertificateCopyKey(certificate)
}

/// Returns the first moment at which the certificate is valid.
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.contents.validity.notBefore as NSDate
}

/// Returns the last moment at which the certificate is valid.
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.contents.validity.notAfter as NSDate
}

/// Returns the serial number, as ``SecCertificateCopySerialNumberData(_:_:)`` does.
@available(*, deprecated, message: "use SecCertificateCopySerialNumberData")
public func SecCertificateCopySerialNumber(_ certificate: SecCertificate) -> CFData? {
    SecCertificateCopySerialNumberData(certificate, nil)
}

/// Returns the serial number as the content of a DER integer: big-endian, and possibly led by a zero byte.
///
/// - Parameters:
///   - certificate: The certificate.
///   - error: The place is never set, because a certificate that could be read has a serial number.
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    NSData(data: certificate.contents.serialNumber)
}
