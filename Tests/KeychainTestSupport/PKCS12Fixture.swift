package import Foundation

/// A PKCS#12 file that OpenSSL 3 alone cannot make (`Tests/Vectors/pkcs12.py`).
package struct PKCS12Fixture: Decodable, Sendable {
    package let file: Data
    /// "refused": the file is refused whatever the passphrase is.
    package let passphrase: String
    package let keys: Int
    package let certificates: Int

    package static func all() throws -> [String: PKCS12Fixture] {
        let content = try Data(contentsOf: Repository.file("Tests/Vectors/pkcs12.json"))
        return try JSONDecoder().decode([String: PKCS12Fixture].self, from: content)
    }

    package static func named(_ name: String) throws -> PKCS12Fixture {
        guard let fixture = try all()[name] else { throw CocoaError(.fileNoSuchFile) }
        return fixture
    }
}
