import Foundation
import KeychainCertificates
import KeychainCrypto
import KeychainKeys
import KeychainModel
import KeychainTestSupport
import Testing

/// PKCS#12 files, byte by byte.
struct PKCS12FileTests {
    private static let passphrase = SecretBytes(copying: Data("open".utf8))
    private static let small = Result { try PKCS12Fixture.named("plain bags") }
    private static let content = Result { try open(try small.get().file) }

    private static func open(_ file: Data, _ passphrase: SecretBytes = Self.passphrase) throws -> PKCS12Content {
        try PKCS12File(file).open(passphrase)
    }

    private static func summary(_ content: PKCS12Content) -> [Data] {
        content.keys.map(\.key.externalRepresentation) + content.certificates.map(\.certificate.der)
    }

    @Test("Each fixture has the keys, certificates and identities that it should have")
    func fixtures() throws {
        for (name, fixture) in try PKCS12Fixture.all() where fixture.passphrase != "refused" {
            let content = try Self.open(fixture.file, SecretBytes(copying: Data(fixture.passphrase.utf8)))
            #expect(content.keys.count == fixture.keys, "\(name)")
            #expect(content.certificates.count == fixture.certificates, "\(name)")
            #expect(content.identities.count == fixture.keys, "\(name)")
        }
    }

    @Test("A file that asks for more work than is done for one is refused")
    func work() throws {
        let file = try PKCS12File(try Self.small.get().file)
        let error = #expect(throws: KeychainError.self) { try file.open(Self.passphrase, mostRounds: 0) }
        #expect(error?.code == .decode && error?.message.contains("more work") == true)
    }

    @Test("A file that is cut short anywhere is refused")
    func cut() throws {
        let file = try Self.small.get().file
        for count in 0..<file.count {
            #expect(throws: KeychainError.self, "\(count) bytes") { try Self.open(Data(file.prefix(count))) }
        }
    }

    @Test("A file with a changed byte is refused, or has the same content")
    func changed() throws {
        let file = try Self.small.get().file
        let expected = Self.summary(try Self.content.get())
        for place in file.indices {
            for bit in [0, 3, 7] {
                var changed = file
                changed[place] ^= 1 << UInt8(bit)
                guard let content = try? Self.open(changed) else { continue }
                #expect(Self.summary(content) == expected, "byte \(place)")
            }
        }
    }

    @Test("Every length in the file, made longer and shorter, is refused or changes nothing")
    func lengths() throws {
        let file = try PKCS12Fixture.named("marked ends").file
        let expected = Self.summary(try Self.open(file))
        for place in file.indices where file[place] >= 0x80 || file[place] == 0 {
            for value: UInt8 in [0, 1, 0x7F, 0x80, 0x81, 0x84, 0x88, 0xFF] {
                var changed = file
                changed[place] = value
                guard let content = try? Self.open(changed) else { continue }
                #expect(Self.summary(content) == expected, "byte \(place)")
            }
        }
    }

    @Test("What is written is read again, by OpenSSL too, with names and the pairing of key and certificate")
    func written() throws {
        var content = PKCS12Content()
        let key = try AsymmetricKey(generating: .ec, bitCount: 384)
        let keyFile = OpenSSL.sec1(key.externalRepresentation)
        let certificate = try X509Certificate(OpenSSL.certificate("/CN=written", key: keyFile))
        let mark = PKCS12Mark(name: "Zürich €𝄞", identifier: key.label)
        content.keys = [(key, mark)]
        content.certificates = [(certificate, mark), (try X509Certificate(CertificateFixture.named), PKCS12Mark())]
        for passphrase in ["open", "", "Zürich €𝄞"] {
            let secret = SecretBytes(copying: Data(passphrase.utf8))
            let file = try content.file(secret, rounds: 2048)
            let read = try Self.open(file, secret)
            #expect(Self.summary(read) == Self.summary(content))
            #expect(read.keys.map(\.mark) == [mark] && read.certificates.map(\.mark) == [mark, PKCS12Mark()])
            let words = ["pkcs12", "-in", "in", "-nodes", "-passin", "pass:\(passphrase)"]
            let text = String(decoding: try OpenSSL.output(words, ["in": file]), as: UTF8.self)
            #expect(text.contains("subject=CN = written") && text.contains("BEGIN PRIVATE KEY"))
            #expect(throws: KeychainError.self) { try Self.open(file, SecretBytes(copying: Data("other".utf8))) }
        }
        // Salts of their own: no two files are alike.
        let twice = try (0..<2).map { _ in try content.file(Self.passphrase, rounds: 1) }
        #expect(twice[0] != twice[1])
    }

    @Test("A file of more than 4 MiB is refused before it is read")
    func size() {
        #expect(throws: KeychainError.self) { try PKCS12File(Data(repeating: 0x30, count: PKCS12File.mostBytes + 1)) }
    }

    @Test("No message has the passphrase or a byte of the file")
    func messages() throws {
        let error = #expect(throws: KeychainError.self) {
            try Self.open(try Self.small.get().file, SecretBytes(copying: Data("my secret words".utf8)))
        }
        #expect(error?.code == .authenticationFailed)
        #expect(error?.message == "the passphrase is wrong, or the PKCS#12 file is damaged")
    }

    @Test("A certificate of another key is no identity, whatever the file says")
    func pairing() throws {
        var content = PKCS12Content()
        let key = try AsymmetricKey(generating: .ec, bitCount: 256)
        let mark = PKCS12Mark(name: "same", identifier: key.label)
        content.keys = [(key, mark)]
        content.certificates = [(try X509Certificate(CertificateFixture.named), mark)]
        #expect(content.identities.isEmpty)
    }
}
