import KeychainCrypto
import KeychainKeys
import KeychainTestSupport
import Testing

@testable import KeychainCertificates
@testable import KeychainSecurity

@Suite("Certificates")
struct SecCertificateTests {
    @Test("A certificate gives back the DER it was made from", arguments: CertificateFixture.all)
    func roundTrip(der: Data) throws {
        let certificate = try #require(SecCertificateCreateWithData(nil, der as CFData))
        #expect(SecCertificateCopyData(certificate) as Data == der)
        #expect(CFGetTypeID(certificate) == SecCertificateGetTypeID())
    }

    @Test(
        "The summary is the common name, else the best part of the subject that is text",
        arguments: [
            (CertificateFixture.named, "ca.example"), (CertificateFixture.organization, "Example Ltd"),
            (CertificateFixture.umlaut, "Zürich"), (CertificateFixture.versionOne, "version one"),
            (CertificateFixture.wide, "Žofie"), (CertificateFixture.nameless, nil),
        ] as [(Data, String?)])
    func summary(der: Data, expected: String?) throws {
        let certificate = try #require(SecCertificateCreateWithData(kCFAllocatorDefault, der as CFData))
        #expect(SecCertificateCopySubjectSummary(certificate) as String? == expected)
    }

    @Test("A subject whose text is not what it claims to be has no summary")
    func falseText() throws {
        let der = try changed(
            CertificateFixture.umlaut, from: "5a30123110300e06035504030c07", to: "5a30123110300e06035504031307")
        let certificate = try #require(SecCertificateCreateWithData(nil, der as CFData))
        #expect(SecCertificateCopySubjectSummary(certificate) == nil)
    }

    @Test("The serial number is the content of its integer")
    func serialNumber() throws {
        let certificate = try #require(SecCertificateCreateWithData(nil, CertificateFixture.named as CFData))
        var error: Unmanaged<CFError>?
        let serial = SecCertificateCopySerialNumberData(certificate, &error)
        #expect(serial as Data? == Data([0x00, 0xF1, 0xE2, 0xD3, 0xC4, 0xB5, 0xA6, 0x97, 0x88]))
        #expect(error == nil)
    }

    @Test("Two are equal when their DER is, wherever it came from")
    func equality() throws {
        let first = try #require(SecCertificateCreateWithData(nil, CertificateFixture.named as CFData))
        let copy = try #require(SecCertificateCreateWithData(nil, SecCertificateCopyData(first)))
        let other = try #require(SecCertificateCreateWithData(nil, CertificateFixture.umlaut as CFData))
        #expect(first == copy)
        #expect(CFHash(first) == CFHash(copy))
        #expect(first != other)
    }

    @Test("A certificate does not change with the data it was made from")
    func copies() throws {
        let data = NSMutableData(data: CertificateFixture.umlaut)
        let certificate = try #require(SecCertificateCreateWithData(nil, data))
        data.resetBytes(in: NSRange(location: 0, length: data.length))
        #expect(SecCertificateCopyData(certificate) as Data == CertificateFixture.umlaut)
    }

    @Test("Every truncation is refused", arguments: CertificateFixture.all)
    func truncated(der: Data) {
        for count in 0..<der.count {
            #expect(SecCertificateCreateWithData(nil, der.prefix(count) as CFData) == nil, "\(count) bytes")
        }
    }

    @Test("C1 Anything after the certificate is cut off", arguments: CertificateFixture.all)
    func trailing(der: Data) throws {
        for bytes in [der + [0], der + der] {
            let certificate = try #require(SecCertificateCreateWithData(nil, bytes as CFData))
            #expect(SecCertificateCopyData(certificate) as Data == der)
        }
    }

    @Test("Two names of the signature's algorithm are a question of trust, and the certificate is read")
    func otherAlgorithm() throws {
        let der = try changed(CertificateFixture.umlaut, from: "300506032b6570034100", to: "300506032b6571034100")
        #expect(SecCertificateCreateWithData(nil, der as CFData) != nil)
    }

    @Test("C7 Printable texts of a name are compared in capital letters and with single blanks, others as they are")
    func normalized() {
        let printable = "30123110300e0603550403130720206120204220"
        #expect(DistinguishedName.normalizedContent(of: bytes(printable)) == bytes("310c300a06035504031303412042"))
        let utf8 = "30123110300e06035504030c0720206120204220"
        #expect(DistinguishedName.normalizedContent(of: bytes(utf8)) == bytes(utf8).dropFirst(2))
        #expect(DistinguishedName.normalizedContent(of: bytes(printable).dropFirst(2)) == nil)
        #expect(DistinguishedName.normalizedContent(of: Data()) == nil)
    }

    @Test(
        "A field that is not what it should be is refused",
        arguments: [
            ("version", "a003020102", "a003020105"),
            ("serial number's tag", "020102300506", "040102300506"),
            ("a time of the wrong form", "170d3236", "180d3236"),
            ("subject's tag", "5a30123110", "5a31123110"),
            ("public key's tag", "032100", "042100"),
            ("extensions' tag", "a3533051", "a4533051"),
            ("criticality's tag", "551d130101ff", "551d130201ff"),
            ("signature's tag", "034100", "044100"),
            ("signature's unused bits", "034100", "034109"),
        ])
    func malformed(field: String, from: String, to: String) throws {
        let der = try changed(CertificateFixture.umlaut, from: from, to: to)
        #expect(SecCertificateCreateWithData(nil, der as CFData) == nil, "\(field)")
    }

    @Test("After any flipped bit it is refused, or is a certificate of exactly the flipped bytes")
    func flippedBits() {
        for place in CertificateFixture.umlaut.indices {
            for bit in 0..<8 {
                var der = CertificateFixture.umlaut
                der[place] ^= 1 << bit
                guard let certificate = SecCertificateCreateWithData(nil, der as CFData) else { continue }
                #expect(SecCertificateCopyData(certificate) as Data == der)
                _ = SecCertificateCopySubjectSummary(certificate)
            }
        }
    }

    @Test("Data that is no certificate is refused", arguments: ["", "00", "3000", "0500", "3080", "30820000"])
    func noCertificate(hex: String) {
        #expect(SecCertificateCreateWithData(nil, bytes(hex) as CFData) == nil)
    }

    @Test(
        "A signature is none by a key whose bytes are none",
        arguments: [
            (AsymmetricKey.Kind.rsa, 1024, "818d0030818902", "818d0031818902"), (.ec, 256, "03420004", "03420005"),
        ])
    func unreadableKey(kind: AsymmetricKey.Kind, bitCount: Int, from: String, to: String) throws {
        let key = try AsymmetricKey(generating: kind, bitCount: bitCount)
        let der = try CertificateRecipe("own", key, by: ("own", key)).der()
        let certificate = try X509Certificate(der)
        #expect(certificate.signature.isValid(by: certificate.publicKey))
        #expect(!certificate.signature.isValid(by: try X509Certificate(changed(der, from: from, to: to)).publicKey))
    }

    /// Replaces the one occurrence of some bytes.
    private func changed(_ der: Data, from old: String, to new: String) throws -> Data {
        let place = try #require(der.firstRange(of: bytes(old)))
        #expect(der[place.upperBound...].firstRange(of: bytes(old)) == nil)
        var der = der
        der.replaceSubrange(place, with: bytes(new))
        return der
    }

    private func bytes(_ hex: String) -> Data {
        var rest = hex[...]
        var bytes = Data()
        while !rest.isEmpty {
            bytes.append(UInt8(rest.prefix(2), radix: 16)!)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
