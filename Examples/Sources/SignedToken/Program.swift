import Foundation
import JWTKit
import Security
import Story

/// `SignedToken`         goes through everything once and leaves nothing behind
/// `SignedToken issue`   makes a key, keeps it, and prints a token signed with it
/// `SignedToken check`   verifies the token on standard input with the key kept, and destroys the key
@main
struct Program {
    private static let chest = KeyChest()

    static func main() async {
        await story(run)
    }

    private static func run() async throws {
        switch CommandLine.arguments.dropFirst().first {
        case nil: try await tour()
        case "issue":
            try chest.keep(KeyChest.randomKey(byteCount: 32), named: "issued")
            print(try await keys("issued").sign(Ticket(holder: "ada", seat: "12A")))
        case "check":
            let ticket = try await keys("issued").verify(readLine() ?? "", as: Ticket.self)
            try chest.destroy("issued")
            print("\(ticket.subject.value) has seat \(ticket.seat)")
        default: stop("usage: SignedToken [issue | check]")
        }
    }

    private static func tour() async throws {
        let ticket = Ticket(holder: "ada", seat: "12A")

        try chest.keep(KeyChest.randomKey(byteCount: 32), named: "hmac")
        let token = try await keys("hmac").sign(ticket)
        let verified = try await keys("hmac").verify(token, as: Ticket.self)
        tell("A token signed with a key from the keychain is valid.", verified == ticket)

        try chest.keep(KeyChest.randomKey(byteCount: 32), named: "other hmac")
        let forged = try? await keys("other hmac").verify(token, as: Ticket.self)
        tell("Under another key it is not.", forged == nil)

        let made = ES256PrivateKey()
        try chest.keep(Data(made.pemRepresentation.utf8), named: "ecdsa")
        let kept = try ES256PrivateKey(pem: chest.key(named: "ecdsa"))
        tell("An elliptic-curve key comes back as it was.", kept.pemRepresentation == made.pemRepresentation)
        let signed = try await JWTKeyCollection().add(ecdsa: kept).sign(ticket)
        let checked = try await JWTKeyCollection().add(ecdsa: made.publicKey).verify(signed, as: Ticket.self)
        tell("What it signs, the public half verifies.", checked == ticket)

        for name in ["hmac", "other hmac", "ecdsa"] {
            try chest.destroy(name)
        }
        tell("The keys are destroyed.", fails: KeyChest.Failure(status: errSecItemNotFound)) {
            _ = try chest.key(named: "hmac")
        }
    }

    /// The collection that signs and verifies with one key, read from the keychain.
    private static func keys(_ name: String) async throws -> JWTKeyCollection {
        await JWTKeyCollection().add(hmac: HMACKey(from: try chest.key(named: name)), digestAlgorithm: .sha256)
    }
}
