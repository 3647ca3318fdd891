import Foundation
import JWTKit
import Pass
import Story

/// `TokenVerifier FILE` checks the token on standard input with the public key in FILE, and has no keychain.
@main
struct Program {
    static func main() async {
        await story(run)
    }

    private static func run() async throws {
        guard let file = CommandLine.arguments.dropFirst().first, let token = readLine() else {
            stop("usage: TokenVerifier FILE <TOKEN")
        }
        let key = try ES256PublicKey(pem: String(contentsOfFile: file, encoding: .utf8))
        let pass = try await JWTKeyCollection().add(ecdsa: key).verify(token, as: Pass.self)
        print("\(pass.holder.value) may enter")
    }
}
