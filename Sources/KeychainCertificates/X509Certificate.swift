package import FoundationEssentials
internal import Glibc
internal import KeychainKeys
internal import SwiftASN1

/// An X.509 certificate (RFC 5280, section 4.1) that was read from its bytes and not checked for trust.
///
/// Reading it checks the form of every field.
package final class X509Certificate: Sendable {
    /// The encoding, without bytes behind it.
    package let der: Data
    /// SHA-256 of the encoding: tables look certificates up by it, since strangers choose the bytes.
    package let fingerprint: Data
    let signature: CertificateSignature
    /// 1 to 3.
    package let version: Int
    /// The bytes are the content of the serial number's integer.
    package let serialNumber: Data
    package let issuer: DistinguishedName
    package let validity: CertificateValidity
    package let subject: DistinguishedName
    /// The names in the form in which Apple's keychain stores them: their content, without the header.
    package let subjectName: Data
    package let issuerName: Data
    /// Whether issuer and subject are one and the same.
    let isSelfIssued: Bool
    let publicKey: PublicKeyInfo
    let extensions: CertificateExtensions

    /// Each element takes many times its size of memory while it is read.
    package static let mostBytes = 1 << 20

    /// - Parameter bytes: A certificate in DER. Bytes behind the certificate are cut off.
    package init(_ bytes: Data) throws {
        der = try DERElement.first(of: bytes)
        guard der.count <= Self.mostBytes else {
            throw ASN1Error.invalidASN1Object(reason: "no certificate is so large")
        }
        fingerprint = DigestAlgorithm.sha256.digest(of: der)
        let parts = try DER.sequence(DER.parse(Array(der)), identifier: .sequence) { nodes in
            guard let signed = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "a certificate has a signed part")
            }
            return (signed, try AlgorithmIdentifier(derEncoded: &nodes), try ASN1BitString(derEncoded: &nodes))
        }
        let signed = try DER.sequence(parts.0, identifier: .sequence) { try SignedPart(&$0) }
        signature = CertificateSignature(
            content: parts.0.encodedBytes, innerAlgorithm: signed.algorithm, algorithm: parts.1, bits: parts.2)
        (version, serialNumber, validity) = (signed.version, Data(signed.serialNumber), signed.validity)
        (issuer, subject) = (signed.issuer, signed.subject)
        (issuerName, subjectName) = (try issuer.normalizedContent, try subject.normalizedContent)
        isSelfIssued = issuer.comparable == subject.comparable
        (publicKey, extensions) = (signed.publicKey, signed.extensions)
    }
}

/// The part that the issuer signs: `tbsCertificate` in RFC 5280.
private struct SignedPart {
    let version: Int
    let serialNumber: ArraySlice<UInt8>
    let algorithm: AlgorithmIdentifier
    let issuer: DistinguishedName
    let validity: CertificateValidity
    let subject: DistinguishedName
    let publicKey: PublicKeyInfo
    let extensions: CertificateExtensions

    init(_ nodes: inout ASN1NodeCollection.Iterator) throws {
        version = try Self.version(&nodes)
        serialNumber = try Self.serialNumber(&nodes)
        algorithm = try AlgorithmIdentifier(derEncoded: &nodes)
        issuer = try DistinguishedName(derEncoded: &nodes)
        validity = try CertificateValidity(derEncoded: &nodes)
        subject = try DistinguishedName(derEncoded: &nodes)
        publicKey = try PublicKeyInfo(derEncoded: &nodes)
        try Self.checkUniqueIdentifier(&nodes, tagNumber: 1)
        try Self.checkUniqueIdentifier(&nodes, tagNumber: 2)
        extensions =
            try DER.optionalExplicitlyTagged(
                &nodes, tagNumber: 3, tagClass: .contextSpecific, CertificateExtensions.init(derEncoded:))
            ?? CertificateExtensions()
    }

    /// Without a number the version is 1. DER leaves out the number of version 1; certificates in the wild spell it out
    /// all the same.
    private static func version(_ nodes: inout ASN1NodeCollection.Iterator) throws -> Int {
        let number = try DER.optionalExplicitlyTagged(
            &nodes, tagNumber: 0, tagClass: .contextSpecific, Int.init(derEncoded:))
        guard let number else { return 1 }
        guard 0...2 ~= number else { throw ASN1Error.invalidASN1Object(reason: "there is no such version of X.509") }
        return number + 1
    }

    /// As long as Apple's keychain takes it, which is longer than RFC 5280 allows.
    private static let serialNumberSizes = 1...37

    private static func serialNumber(_ nodes: inout ASN1NodeCollection.Iterator) throws -> ArraySlice<UInt8> {
        guard let node = nodes.next(), node.identifier == .integer, case .primitive(let content) = node.content,
            serialNumberSizes ~= content.count, content.isMinimalInteger
        else {
            throw ASN1Error.invalidASN1Object(
                reason: "the serial number of a certificate is an integer of up to 37 bytes, and none to spare")
        }
        return content
    }

    private static func checkUniqueIdentifier(
        _ nodes: inout ASN1NodeCollection.Iterator, tagNumber: UInt
    ) throws {
        let tag = ASN1Identifier(tagWithNumber: tagNumber, tagClass: .contextSpecific)
        let _: ASN1BitString? = try DER.optionalImplicitlyTagged(&nodes, tag: tag)
    }
}

extension ArraySlice<UInt8> {
    /// Whether the first byte of an integer is needed, as DER demands.
    fileprivate var isMinimalInteger: Bool {
        guard count > 1, let first, let second = dropFirst().first else { return true }
        return !(first == 0 && second < 0x80) && !(first == 0xFF && second >= 0x80)
    }
}

struct AlgorithmIdentifier: DERParseable, Equatable {
    let algorithm: ASN1ObjectIdentifier
    private(set) var parameters: ASN1Any?

    /// The identifier without parameters if they are NULL.
    var withoutNull: AlgorithmIdentifier {
        var identifier = self
        if parameters.flatMap({ try? ASN1Null(asn1Any: $0) }) != nil { identifier.parameters = nil }
        return identifier
    }

    init(derEncoded root: ASN1Node) throws {
        (algorithm, parameters) = try DER.sequence(root, identifier: .sequence) { nodes in
            (try ASN1ObjectIdentifier(derEncoded: &nodes), nodes.next().map(ASN1Any.init(derEncoded:)))
        }
    }
}

/// The first and the last moment at which a certificate is valid.
package struct CertificateValidity: Sendable {
    package let notBefore: Date
    package let notAfter: Date
}

extension CertificateValidity: DERParseable {
    init(derEncoded root: ASN1Node) throws {
        (notBefore, notAfter) = try DER.sequence(root, identifier: .sequence) { nodes in
            (try Self.date(nodes.next()), try Self.date(nodes.next()))
        }
    }

    private static func date(_ node: ASN1Node?) throws -> Date {
        switch node?.identifier {
        case .utcTime?:
            let time = try UTCTime(derEncoded: node!)
            return date(time.year, time.month, time.day, time.hours, time.minutes, time.seconds)
        case .generalizedTime?:
            let time = try GeneralizedTime(derEncoded: node!)
            return date(time.year, time.month, time.day, time.hours, time.minutes, time.seconds)
        default: throw ASN1Error.invalidASN1Object(reason: "the validity of a certificate is two times")
        }
    }

    private static func date(
        _ year: Int, _ month: Int, _ day: Int, _ hours: Int, _ minutes: Int, _ seconds: Int
    ) -> Date {
        var time = tm()
        (time.tm_year, time.tm_mon, time.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
        (time.tm_hour, time.tm_min, time.tm_sec) = (Int32(hours), Int32(minutes), Int32(seconds))
        return Date(timeIntervalSince1970: TimeInterval(timegm(&time)))
    }
}
