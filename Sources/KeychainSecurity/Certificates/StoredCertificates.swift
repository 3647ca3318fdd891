internal import Foundation
internal import KeychainCertificates
internal import KeychainClient
internal import KeychainModel

/// The certificates of a keychain as authorities that may have issued others.
enum StoredCertificates {
    /// - Parameter name: The normalized content of their subject.
    static func named(_ name: Data, in connection: Connection) throws(KeychainError) -> [X509Certificate] {
        // Bytes that are no certificate have issued none.
        try connection.certificates(named: name).compactMap { try? X509Certificate($0) }
    }
}
