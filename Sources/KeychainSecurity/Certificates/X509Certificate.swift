internal import Foundation
internal import SwiftASN1

/// The structure has the fields that are used of a certificate (RFC 5280, section 4.1).
///
/// Reading a certificate checks the form of every field. Whether the two signature algorithms are one, and whether anybody signed it, is
/// a question of trust.
struct X509Certificate: DERParseable {
    /// 1 to 3.
    let version: Int
    /// The bytes are the content of the serial number's integer.
    let serialNumber: ArraySlice<UInt8>
    let issuer: DistinguishedName
    let validity: Validity
    let subject: DistinguishedName
    let publicKey: PublicKeyInfo
    let extensions: CertificateExtensions

    init(derEncoded root: ASN1Node) throws {
        self = try DER.sequence(root, identifier: .sequence) { nodes in
            guard let node = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "a certificate has a signed part")
            }
            let signed = try DER.sequence(node, identifier: .sequence) { try X509Certificate(signed: &$0) }
            _ = try AlgorithmIdentifier(derEncoded: &nodes)
            _ = try ASN1BitString(derEncoded: &nodes)
            return signed
        }
    }

    /// Reads the signed part, which is called `tbsCertificate` in RFC 5280.
    private init(signed nodes: inout ASN1NodeCollection.Iterator) throws {
        version = try Self.version(&nodes)
        serialNumber = try Self.serialNumber(&nodes)
        _ = try AlgorithmIdentifier(derEncoded: &nodes)
        issuer = try DistinguishedName(derEncoded: &nodes)
        validity = try Validity(derEncoded: &nodes)
        subject = try DistinguishedName(derEncoded: &nodes)
        publicKey = try PublicKeyInfo(derEncoded: &nodes)
        try Self.checkUniqueIdentifier(&nodes, tagNumber: 1)
        try Self.checkUniqueIdentifier(&nodes, tagNumber: 2)
        extensions =
            try DER.optionalExplicitlyTagged(
                &nodes, tagNumber: 3, tagClass: .contextSpecific, CertificateExtensions.init(derEncoded:))
            ?? CertificateExtensions()
    }

    /// Accepts no version, which means 1, or the number of version 2 or 3. DER leaves out the number of version 1.
    private static func version(_ nodes: inout ASN1NodeCollection.Iterator) throws -> Int {
        let number = try DER.optionalExplicitlyTagged(
            &nodes, tagNumber: 0, tagClass: .contextSpecific, Int.init(derEncoded:))
        guard let number else { return 1 }
        guard 1...2 ~= number else { throw ASN1Error.invalidASN1Object(reason: "there is no such version of X.509") }
        return number + 1
    }

    /// As long as Apple's keychain takes it, which is longer than RFC 5280 allows.
    private static let serialNumberSizes = 1...37

    private static func serialNumber(_ nodes: inout ASN1NodeCollection.Iterator) throws -> ArraySlice<UInt8> {
        guard let node = nodes.next(), node.identifier == .integer, case .primitive(let content) = node.content,
            serialNumberSizes ~= content.count
        else {
            throw ASN1Error.invalidASN1Object(
                reason: "the serial number of a certificate is an integer of up to 37 bytes")
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

struct AlgorithmIdentifier: DERParseable, Equatable {
    let algorithm: ASN1ObjectIdentifier
    let parameters: ASN1Any?

    init(derEncoded root: ASN1Node) throws {
        (algorithm, parameters) = try DER.sequence(root, identifier: .sequence) { nodes in
            (try ASN1ObjectIdentifier(derEncoded: &nodes), nodes.next().map(ASN1Any.init(derEncoded:)))
        }
    }
}

/// The first and the last moment at which a certificate is valid.
struct Validity: DERParseable {
    let notBefore: Date
    let notAfter: Date

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

/// A public key as certificates have it: `SubjectPublicKeyInfo`.
struct PublicKeyInfo: DERParseable {
    let algorithm: AlgorithmIdentifier
    /// PKCS#1's `RSAPublicKey`, or a point of a curve.
    let key: ASN1BitString

    init(derEncoded root: ASN1Node) throws {
        (algorithm, key) = try DER.sequence(root, identifier: .sequence) { nodes in
            (try AlgorithmIdentifier(derEncoded: &nodes), try ASN1BitString(derEncoded: &nodes))
        }
    }
}
