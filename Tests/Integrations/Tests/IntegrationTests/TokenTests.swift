import Foundation
import JWTKit
import KeychainJWTKit
import KeychainSecurity
import Testing

struct Ticket: JWTPayload, Equatable {
    var sub: SubjectClaim
    var exp: ExpirationClaim
    var seat: String

    init(seat: String = "12A", lifetime: TimeInterval = 600) {
        sub = "ada"
        // Whole seconds, because a token holds no others.
        exp = ExpirationClaim(value: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + lifetime))
        self.seat = seat
    }

    func verify(using algorithm: some JWTAlgorithm) throws { try exp.verifyNotExpired() }
}

@Suite("Tokens signed with keys of the keychain")
struct TokenTests {
    static let algorithms: [(TestKey, KeychainTokenSigner.Algorithm)] = [
        (.p256, .es256), (.engine, .es256), (.p384, .es384), (.p521, .es512), (.rsa, .rs256), (.rsa, .rs384),
        (.rsa, .rs512), (.rsa, .ps256), (.rsa, .ps384), (.rsa, .ps512),
    ]

    @Test("jwt-kit verifies a token with the public half, and no other token", arguments: algorithms)
    func verifies(_ kind: TestKey, _ algorithm: KeychainTokenSigner.Algorithm) async throws {
        let signer = try KeychainTokenSigner(kind.make(), algorithm: algorithm)
        #expect(signer.name == algorithm.rawValue)
        let ticket = Ticket()
        let token = try await signer.token(ticket)
        let keys = try await JWTKeyCollection().add(publicHalfOf: signer)
        #expect(try await keys.verify(token, as: Ticket.self) == ticket)

        let others = try await JWTKeyCollection().add(
            publicHalfOf: KeychainTokenSigner(kind.make(), algorithm: algorithm))
        await #expect(throws: JWTError.self) { try await others.verify(token, as: Ticket.self) }
        let forged = try await signer.token(Ticket(seat: "1A")).split(separator: ".")
        let parts = token.split(separator: ".")
        await #expect(throws: JWTError.self) {
            try await keys.verify("\(parts[0]).\(forged[1]).\(parts[2])", as: Ticket.self)
        }
    }

    @Test("A signer is an algorithm of jwt-kit, whose signatures it verifies itself", arguments: algorithms)
    func isAlgorithm(_ kind: TestKey, _ algorithm: KeychainTokenSigner.Algorithm) async throws {
        let signer: any JWTAlgorithm = try KeychainTokenSigner(kind.make(), algorithm: algorithm)
        let message = Data("a message".utf8)
        let signature = try signer.sign(message)
        #expect(try signer.verify(signature, signs: message))
        #expect(try !signer.verify(signature, signs: message + [0]))
        #expect(try !signer.verify(signature.dropLast(), signs: message))
        let keys = try await JWTKeyCollection().add(publicHalfOf: #require(signer as? KeychainTokenSigner))
        #expect(try await keys.getKey().verify(signature, signs: message))
    }

    @Test("OpenSSL reads the public half", arguments: TestKey.allCases)
    func publicKey(_ kind: TestKey) async throws {
        let place = try Place()
        let file = try place.file("public.pem", KeychainTokenSigner(kind.make()).publicKeyPEM)
        let openssl = try await OpenSSL("pkey", "-pubin", "-in", file, "-pubcheck", "-noout")
        #expect(openssl.status == 0 && openssl.output.contains("Key is valid"), "\(openssl.output)")
    }

    @Test("Without an algorithm the key decides")
    func defaults() throws {
        #expect(try KeychainTokenSigner(TestKey.rsa.make()).algorithm == .rs256)
        #expect(try KeychainTokenSigner(TestKey.engine.make()).algorithm == .es256)
        #expect(try KeychainTokenSigner(TestKey.p384.make()).algorithm == .es384)
        #expect(try KeychainTokenSigner(TestKey.p521.make()).algorithm == .es512)
    }

    @Test("An algorithm of another kind of key is refused")
    func otherAlgorithms() throws {
        for (kind, algorithm) in [
            (TestKey.engine, KeychainTokenSigner.Algorithm.rs256), (.rsa, .es256), (.p384, .es256), (.p256, .ps256),
        ] {
            let error = #expect(throws: (any Error).self) {
                try KeychainTokenSigner(kind.make(), algorithm: algorithm)
            }
            #expect(error.flatMap(status(of:)) == errSecParam)
        }
    }

    @Test("The header keeps its fields, except that the algorithm is the signer's")
    func header() async throws {
        let signer = try KeychainTokenSigner(TestKey.p256.make())
        let token = try await signer.token(Ticket(), header: ["kid": "first", "alg": "none"])
        let header = try DefaultJWTParser().parse(Data(token.utf8), as: Ticket.self).header
        #expect(header.kid == "first" && header.alg == "ES256" && header.typ == "JWT")
        let keys = try await JWTKeyCollection().add(publicHalfOf: signer, kid: "first")
        #expect(try await keys.verify(token, as: Ticket.self).seat == "12A")
    }

    @Test("A token that has expired is refused")
    func expired() async throws {
        let signer = try KeychainTokenSigner(TestKey.p256.make())
        let token = try await signer.token(Ticket(lifetime: -60))
        let keys = try await JWTKeyCollection().add(publicHalfOf: signer)
        await #expect(throws: JWTError.self) { try await keys.verify(token, as: Ticket.self) }
    }

    @Test("With a public half a signer verifies, and signs nothing")
    func publicHalf() async throws {
        let key = try TestKey.engine.make()
        let verifier = try KeychainTokenSigner(#require(SecKeyCopyPublicKey(key)))
        let message = Data("a message".utf8)
        #expect(try verifier.verify(KeychainTokenSigner(key).sign(message), signs: message))
        let error = await #expect(throws: (any Error).self) { try await verifier.token(Ticket()) }
        #expect(error.flatMap(status(of:)) == errSecParam)
    }

    @Test("A key that was deleted in the engine signs no more")
    func deleted() async throws {
        let tag = UUID().uuidString
        let signer = try KeychainTokenSigner(TestKey.engine.make(tag: tag))
        _ = try await signer.token(Ticket())
        #expect(TestKey.delete(tag: tag) == errSecSuccess)
        let error = await #expect(throws: (any Error).self) { try await signer.token(Ticket()) }
        #expect(error.flatMap(status(of:)) == errSecItemNotFound)
    }
}
