// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import SwiftASN1

/// An X.509 certificate.
///
/// Two are equal when their DER encodings are.
public final class SecCertificate: NSObject, @unchecked Sendable {  // immutable
    fileprivate let der: Data
    fileprivate let contents: X509Certificate

    fileprivate init(der: Data) throws {
        self.der = der
        self.contents = try X509Certificate(derEncoded: DER.parse(Array(der)))
        super.init()
    }

    override public func isEqual(_ object: Any?) -> Bool {
        (object as? SecCertificate)?.der == der
    }

    override public var hash: Int { der.hashValue }

    override public var description: String {
        "<SecCertificate: \(contents.subject.summary ?? "no subject")>"
    }
}

/// Reads a certificate from its DER encoding.
///
/// The whole structure is checked, but neither signature nor validity period nor the meaning of extensions.
///
/// - Parameters:
///   - allocator: Accepted and not used.
///   - data: The bytes of one X.509 certificate (RFC 5280).
/// - Returns: nil unless the data is exactly one certificate, without anything after it.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    try? SecCertificate(der: Data(bytes: data.bytes, count: data.length))
}

/// The DER encoding, byte for byte what the certificate was made from.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    NSData(data: certificate.der)
}

/// A short name for a person to tell the certificate by; never something to base trust on.
///
/// The subject's common name, else its unit, organisation or mail address, else its last attribute that
/// is text.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.contents.subject.summary as NSString?
}

/// The serial number: the content of a DER integer, that is big-endian and possibly led by a zero byte.
///
/// - Parameters:
///   - certificate: The certificate.
///   - error: Never set, because a certificate that could be read has a serial number.
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    NSData(data: Data(certificate.contents.serialNumber))
}
