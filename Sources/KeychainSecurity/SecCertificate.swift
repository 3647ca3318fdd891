// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import SwiftASN1

/// The object is an X.509 certificate that was read from its bytes and never checked for trust.
///
/// Two certificates are equal if their DER encodings are equal.
public final class SecCertificate: NSObject, @unchecked Sendable {  // immutable
    fileprivate let der: Data
    fileprivate let contents: X509Certificate

    fileprivate init(der: Data) throws {
        self.der = der
        self.contents = try X509Certificate(derEncoded: DER.parse(Array(der)))
        super.init()
    }

    /// Two certificates are equal if their DER encodings are equal.
    override public func isEqual(_ object: Any?) -> Bool {
        (object as? SecCertificate)?.der == der
    }

    /// Equal certificates have equal hashes within one process.
    override public var hash: Int { der.hashValue }

    /// The text names the certificate's subject, for logs.
    override public var description: String {
        "<SecCertificate: \(contents.subject.summary ?? "no subject")>"
    }
}

/// Reads a certificate from its DER encoding.
///
/// The function checks the whole structure. It checks neither the signature nor the period of validity nor the meaning
/// of extensions.
///
/// - Parameters:
///   - allocator: The allocator is accepted and not used.
///   - data: The bytes of one X.509 certificate (RFC 5280).
/// - Returns: The certificate, or nil unless the data is exactly one certificate with nothing after it.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    try? SecCertificate(der: Data(bytes: data.bytes, count: data.length))
}

/// Returns the DER encoding, byte for byte as the certificate was read from it.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    NSData(data: certificate.der)
}

/// Returns a short name by which a person tells the certificate from others.
///
/// The name is the subject's common name, else its unit, organisation or mail address, else its last attribute that is
/// text. The name is no proof of anything, since the certificate was not verified.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.contents.subject.summary as NSString?
}

/// Returns the serial number as the content of a DER integer: big-endian, and possibly led by a zero byte.
///
/// - Parameters:
///   - certificate: The certificate.
///   - error: The place is never set, because a certificate that could be read has a serial number.
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    NSData(data: Data(certificate.contents.serialNumber))
}
