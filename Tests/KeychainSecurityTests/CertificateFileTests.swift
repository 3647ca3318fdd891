import Foundation
import KeychainCertificates
import KeychainCrypto
import KeychainKeys
import KeychainModel
import KeychainTestSupport
import Testing

/// Files of certificates, whichever form they have.
struct CertificateFileTests {
    private static let all = [CertificateFixture.named, CertificateFixture.organization, CertificateFixture.umlaut]
    private static let texts = all.map { OpenSSL.pem("CERTIFICATE", $0) }

    private func certificates(_ bytes: Data) throws -> [Data] {
        guard case .plain(let certificates, _) = try CertificateFile(bytes) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return certificates.map(\.der)
    }

    @Test("DER has one certificate, or several behind each other; PEM has as many as it has blocks")
    func plain() throws {
        #expect(try certificates(CertificateFixture.named) == [CertificateFixture.named])
        #expect(try certificates(Data(Self.all.joined())) == Self.all)
        #expect(try certificates(Data(("words\n" + Self.texts.joined(separator: "\nmore\n")).utf8)) == Self.all)
        #expect(throws: KeychainError.self) { try certificates(CertificateFixture.named + Data([0])) }
    }

    @Test("The notes that OpenSSL puts behind a trusted certificate are left out, and nothing else may stand there")
    func trusted() throws {
        let text = try OpenSSL.output(
            ["x509", "-in", "in", "-trustout", "-addtrust", "serverAuth"], ["in": Data(Self.texts[0].utf8)])
        #expect(String(decoding: text, as: UTF8.self).contains("BEGIN TRUSTED CERTIFICATE"))
        #expect(try certificates(text) == [CertificateFixture.named])
        let other = OpenSSL.pem("CERTIFICATE", CertificateFixture.named + Data([0x30, 0]))
        #expect(throws: KeychainError.self) { try certificates(Data(other.utf8)) }
    }

    @Test("PKCS#7 has all of its certificates, in DER and in PEM", arguments: ["DER", "PEM"])
    func pkcs7(form: String) throws {
        let file = try OpenSSL.output(
            ["crl2pkcs7", "-nocrl", "-certfile", "in", "-outform", form], ["in": Data(Self.texts.joined().utf8)])
        #expect(try certificates(file) == Self.all)
        let empty = try OpenSSL.output(["crl2pkcs7", "-nocrl", "-outform", "DER"])
        #expect(try certificates(empty).isEmpty)
        for count in 0..<file.count - 30 {
            #expect(throws: KeychainError.self) { try certificates(file.prefix(count)) }
        }
    }

    @Test("A changed byte of PKCS#7 is refused, or other certificates than before are not as many")
    func changed() throws {
        let file = try OpenSSL.output(
            ["crl2pkcs7", "-nocrl", "-certfile", "in", "-outform", "DER"], ["in": Data(Self.texts[0].utf8)])
        for place in file.indices {
            var changed = file
            changed[place] ^= 0x80
            guard let certificates = try? certificates(changed) else { continue }
            #expect(certificates.count <= 1)
        }
    }

    @Test("Keys in a text are found beside its certificates, and those under a passphrase too")
    func keys() throws {
        let key = try AsymmetricKey(generating: .ec, bitCount: 256)
        let pem = String(decoding: try KeyFileFormat.pem.bytes(of: key), as: UTF8.self)
        guard case .plain(let certificates, let keys) = try CertificateFile(Data((Self.texts[0] + pem).utf8)) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        #expect(certificates.count == 1)
        guard case .key(let found)? = keys.first else { throw CocoaError(.fileReadCorruptFile) }
        #expect(found.externalRepresentation == key.externalRepresentation)
    }

    @Test(
        "Anything else is refused by name",
        arguments: ["", "words", "-----BEGIN CERTIFICATE-----\nAAAA", "0", "00000000"])
    func refused(text: String) {
        let error = #expect(throws: KeychainError.self) { try CertificateFile(Data(text.utf8)) }
        #expect(error?.code == .decode)
    }

    @Test("More than 4 MiB are refused")
    func size() {
        #expect(throws: KeychainError.self) { try CertificateFile(Data(count: CertificateFile.mostBytes + 1)) }
    }
}
