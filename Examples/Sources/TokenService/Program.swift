import Foundation
import JWTKit
import KeychainJWTKit
import Pass
import Security
import Story

/// `TokenService`               goes through everything once and leaves nothing behind
/// `TokenService publish`       prints the public key in PEM, for those who verify, and makes the pair if there is none
/// `TokenService issue NAME`    prints a token for NAME
/// `TokenService retire`        destroys the key
@main
struct Program {
    static func main() async {
        await story(run)
    }

    private static func run() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.dropFirst().first) {
        case (nil, nil): try await tour()
        case ("publish", nil): print(try KeychainTokenSigner(ServiceKey.findOrMake()).publicKeyPEM)
        case ("issue", let name?): print(try await KeychainTokenSigner(ServiceKey.find()).token(Pass(holder: name)))
        case ("retire", nil): try ServiceKey.retire()
        default: stop("usage: TokenService [publish | issue NAME | retire]")
        }
    }

    private static func tour() async throws {
        let key = try ServiceKey.make()
        tell("The private half cannot be exported.", SecKeyCopyExternalRepresentation(key, nil) == nil)
        tell("The key is found again.", try ServiceKey.find() == key)

        let signer = try KeychainTokenSigner(key)
        let pass = Pass(holder: "ada")
        let token = try await signer.token(pass)
        let keys = try await JWTKeyCollection().add(ecdsa: ES256PublicKey(pem: signer.publicKeyPEM))
        let verified = try await keys.verify(token, as: Pass.self)
        tell("What the key signs, the public half verifies.", verified == pass)

        try ServiceKey.retire()
        tell("The key is destroyed.", fails: ServiceKey.Failure(status: errSecItemNotFound)) {
            _ = try ServiceKey.find()
        }
        let late = try? await signer.token(pass)
        tell("It signs no more.", late == nil)
    }
}
