import Foundation
import KeychainSecurity
import KeychainX509
import SwiftASN1
import Testing
import X509

@Suite("Certificates signed with keys of the keychain")
struct CertificateTests {
    @Test("OpenSSL accepts a request, signed at once or awaited", arguments: TestKey.allCases)
    func request(_ kind: TestKey) async throws {
        let key = try Certificate.PrivateKey(kind.make())
        let place = try Place()
        let subject = try DistinguishedName {
            CommonName("ada.example")
            OrganizationName("Example")
        }
        let requests = [
            try CertificateSigningRequest(
                version: .v1, subject: subject, privateKey: key, attributes: CertificateSigningRequest.Attributes()),
            try await CertificateSigningRequest(
                version: .v1, subject: subject, asyncPrivateKey: key,
                attributes: CertificateSigningRequest.Attributes(), signatureAlgorithm: kind.certificateAlgorithm),
        ]
        for request in requests {
            let file = try place.file("request.pem", request.serializeAsPEM().pemString)
            let openssl = try await OpenSSL("req", "-in", file, "-verify", "-noout", "-subject")
            #expect(openssl.status == 0, "\(openssl.output)")
            #expect(openssl.output.contains("self-signature verify OK"))
            #expect(openssl.output.contains("ada.example"))
        }
    }

    @Test("OpenSSL accepts a certificate that the key signed for itself", arguments: TestKey.allCases)
    func selfSigned(_ kind: TestKey) async throws {
        let key = try Certificate.PrivateKey(kind.make())
        let certificate = try await Certificate.selfSigned(key, kind.certificateAlgorithm)
        #expect(key.publicKey.isValidSignature(certificate.signature, for: certificate))
        let place = try Place()
        let file = try place.file("certificate.pem", certificate.pem)
        let openssl = try await OpenSSL("verify", "-check_ss_sig", "-CAfile", file, file)
        #expect(openssl.status == 0, "\(openssl.output)")
    }

    @Test("A key signs with every algorithm that it says it has", arguments: TestKey.allCases)
    func algorithms(_ kind: TestKey) throws {
        let key = try Certificate.PrivateKey(kind.make())
        let message = Data("a message".utf8)
        #expect(key.supportedSignatureAlgorithms.count == 3)
        for algorithm in key.supportedSignatureAlgorithms {
            let signature = try key.sign(bytes: message, signatureAlgorithm: algorithm)
            #expect(
                key.publicKey.isValidSignature(signature.rawRepresentation, for: message, signatureAlgorithm: algorithm)
            )
        }
    }

    @Test("An algorithm of another kind of key is refused")
    func otherAlgorithms() throws {
        for (kind, algorithm) in [
            (TestKey.rsa, Certificate.SignatureAlgorithm.ecdsaWithSHA256), (.engine, .sha256WithRSAEncryption),
            (.rsa, .sha1WithRSAEncryption), (.p256, .ed25519),
        ] {
            let key = try Certificate.PrivateKey(kind.make())
            let error = #expect(throws: (any Error).self) {
                try key.sign(bytes: Data(), signatureAlgorithm: algorithm)
            }
            #expect(error.flatMap(status(of:)) == errSecParam)
        }
    }

    @Test("No key is written as PEM, wherever it is", arguments: TestKey.allCases)
    func notWritten(_ kind: TestKey) throws {
        let key = try Certificate.PrivateKey(kind.make())
        let error = #expect(throws: (any Error).self) { try key.serializeAsPEM() }
        #expect(error.flatMap(status(of:)) == errSecUnimplemented)
        #expect(key.description.hasPrefix("<SecKey: private "))
    }

    @Test("A public half is no private key")
    func publicHalf() throws {
        let half = try #require(SecKeyCopyPublicKey(TestKey.p256.make()))
        let error = #expect(throws: (any Error).self) { try Certificate.PrivateKey(half) }
        #expect(error.flatMap(status(of:)) == errSecParam)
    }

    @Test("Keys are equal as their pairs are")
    func equality() throws {
        let (key, other) = (try TestKey.p256.make(), try TestKey.p256.make())
        #expect(try Certificate.PrivateKey(key) == Certificate.PrivateKey(key))
        #expect(try Certificate.PrivateKey(key) != Certificate.PrivateKey(other))
        #expect(try Set([Certificate.PrivateKey(key), Certificate.PrivateKey(key)]).count == 1)
    }
}
