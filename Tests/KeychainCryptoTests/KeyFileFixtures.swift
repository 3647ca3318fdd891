import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto
@testable import KeychainKeys

/// Files that OpenSSL and ssh-keygen have made (`Tests/Vectors/key-files.py`).
struct KeyFileFixtures: Decodable {
    static let all: KeyFileFixtures = try! Vectors.load("key-files")
    static let passphrase = SecretBytes(copying: Data("open sesame".utf8))

    struct Key: Decodable, CustomTestStringConvertible {
        let name: String
        let jwk: [String: String]
        let `private`: [String: Data]
        let `public`: [String: Data]
        let encrypted: [String: Data]

        var testDescription: String { name }

        /// The pair, as the plainest of its files has it.
        var pair: AsymmetricKey {
            get throws { try KeyFile(self.private["pkcs8.der"]!).sole }
        }

        var all: [(name: String, bytes: Data)] {
            [self.private, self.public, encrypted].flatMap { files in files.map { (name: $0.key, bytes: $0.value) } }
        }
    }

    let keys: [Key]
    /// By a word of the message.
    let refused: [String: Data]
}

extension KeyFile {
    /// The key of a file without a passphrase.
    var sole: AsymmetricKey {
        get throws {
            guard case .key(let key) = self else { throw CocoaError(.fileReadCorruptFile) }
            return key
        }
    }
}
