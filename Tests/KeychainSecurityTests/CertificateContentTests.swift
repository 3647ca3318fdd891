import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// What a certificate says, of certificates that OpenSSL makes.
struct CertificateContentTests {
    private static let key = Result { try SecKey.generated() }

    private func certificate(_ subject: String, _ extensions: [String] = []) throws -> SecCertificate {
        let key = OpenSSL.sec1(try Self.key.get().bytes)
        let der = try OpenSSL.certificate(subject, key: key, extensions: extensions)
        return try #require(SecCertificateCreateWithData(nil, der as NSData))
    }

    @Test(
        "C3 C4 The summary is the best text that there is, the last one first",
        arguments: [
            ("/CN=one", [], "one"), ("/CN=one/CN=two", [], "two, one"),
            ("/CN=one/description=words", [], "one (words)"),
            ("/O=org/OU=a/OU=b/OU=c", [], "c, b, a"), ("/O=org", [], "org"), ("/L=Bern", [], "Bern"),
            ("/O=org", ["subjectAltName=DNS:a.example,DNS:b.example"], "a.example"),
            ("/O=org", ["subjectAltName=DNS:a.example,email:m@example.org"], "m@example.org"),
            ("/O=org/emailAddress=s@example.org", ["subjectAltName=DNS:a.example"], "s@example.org"),
            ("/CN=one", ["subjectAltName=DNS:a.example"], "one"),
        ] as [(String, [String], String)])
    func summary(subject: String, extensions: [String], expected: String) throws {
        #expect(SecCertificateCopySubjectSummary(try certificate(subject, extensions)) as String? == expected)
    }

    @Test("C5 The common name is the last one, and without one the place stays as it was")
    func commonName() throws {
        var name: CFString? = "before"
        #expect(SecCertificateCopyCommonName(try certificate("/O=org"), &name) == -26276)
        #expect(name == "before")
        #expect(SecCertificateCopyCommonName(try certificate("/CN=one/CN=two"), &name) == errSecSuccess)
        #expect(name == "two")
    }

    @Test("C6 Mail addresses of the alternative names come before those of the subject")
    func addresses() throws {
        func addresses(_ subject: String, _ extensions: [String]) throws -> [String]? {
            var addresses: CFArray?
            let status = SecCertificateCopyEmailAddresses(try certificate(subject, extensions), &addresses)
            #expect(status == errSecSuccess)
            return addresses as? [String]
        }
        #expect(try addresses("/CN=one", []) == [])
        #expect(
            try addresses(
                "/CN=one/emailAddress=s@example.org", ["subjectAltName=email:a@example.org,email:b@example.org"])
                == ["a@example.org", "b@example.org", "s@example.org"])
    }

    @Test("C9 The key is that of the certificate, and there is none of a kind that keys do not have")
    func key() throws {
        let key = try Self.key.get()
        let found = try #require(SecCertificateCopyKey(try certificate("/CN=one")))
        #expect(found == SecKeyCopyPublicKey(key))
        let rsa = try OpenSSL.output(["genrsa", "-traditional", "1024"])
        let der = try OpenSSL.output(["rsa", "-in", "in", "-outform", "DER"], ["in": rsa])
        let certificate = try OpenSSL.certificate("/CN=rsa", key: der)
        let read = try #require(SecCertificateCreateWithData(nil, certificate as NSData))
        #expect(try #require(SecCertificateCopyKey(read)).blockSize == 128)
        let other = try #require(SecCertificateCreateWithData(nil, CertificateFixture.umlaut as NSData))
        #expect(SecCertificateCopyKey(other) == nil)
    }

    @Test("C10 Dates of both forms are read, and a year of two digits is in 1950 to 2049")
    func dates() throws {
        let year = try certificate("/CN=one")
        let before = try #require(SecCertificateCopyNotValidBeforeDate(year)) as Date
        #expect(abs(before.timeIntervalSinceNow) < 24 * 60 * 60)
        let after = try #require(SecCertificateCopyNotValidAfterDate(year)) as Date
        #expect(after.timeIntervalSince(before) == 365 * 24 * 60 * 60)
        let key = OpenSSL.sec1(try Self.key.get().bytes)
        let late = try OpenSSL.certificate("/CN=late", key: key, days: 36_500)
        let century = try #require(SecCertificateCreateWithData(nil, late as NSData))
        let end = try #require(SecCertificateCopyNotValidAfterDate(century)) as Date
        #expect(abs(end.timeIntervalSinceNow - 36_500 * 24 * 60 * 60) < 24 * 60 * 60)
    }

    @Test("C11 A critical extension that is known and malformed makes it no certificate; an unknown one does not")
    func critical() throws {
        let key = OpenSSL.sec1(try Self.key.get().bytes)
        func read(_ line: String) throws -> SecCertificate? {
            SecCertificateCreateWithData(
                nil, try OpenSSL.certificate("/CN=one", key: key, extensions: [line]) as NSData)
        }
        #expect(try read("2.5.29.37=critical,DER:0500") == nil)
        #expect(try read("2.5.29.37=DER:0500") != nil)
        #expect(try read("1.2.3.4=critical,DER:0500") != nil)
    }

    @Test("C13 An identity has the key of its certificate, and no other one")
    func identity() throws {
        let key = try Self.key.get()
        let certificate = try certificate("/CN=one")
        let identity = try #require(SecIdentityCreate(nil, certificate, key))
        #expect(identity == SecIdentityCreate(nil, certificate, key))
        #expect(identity.hash == SecIdentityCreate(nil, certificate, key)?.hash)
        #expect(SecIdentityCreate(nil, certificate, try SecKey.generated()) == nil)
        #expect(SecIdentityCreate(nil, certificate, try #require(SecKeyCopyPublicKey(key))) == nil)
        #expect(CFGetTypeID(identity) == SecIdentityGetTypeID())
    }
}

extension SecKey {
    fileprivate static func generated() throws -> SecKey {
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
        ]
        return try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
    }

    fileprivate var bytes: Data {
        get throws { try #require(SecKeyCopyExternalRepresentation(self, nil)) as Data }
    }

    fileprivate var blockSize: Int { SecKeyGetBlockSize(self) }
}
