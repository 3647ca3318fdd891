internal import Foundation
internal import KeychainCertificates
internal import KeychainModel
internal import SwiftKeychain

/// The certificates of a keychain as authorities that may have issued others.
enum StoredCertificates {
    /// Finds those that a person need not be asked for.
    ///
    /// - Parameter name: The normalized content of their subject.
    static func named(_ name: Data, in connection: Connection) throws(KeychainError) -> [X509Certificate] {
        // A question is no reason to make a store.
        guard try connection.placeOfMissingStore() == nil else { return [] }
        var query = ItemQuery(.certificate)
        query.attributes = [.subject: .data(name)]
        query.synchronizable = .any
        query.limit = .all
        query.authenticationUI = .skip
        do throws(KeychainError) {
            guard case .found(let items) = try connection.perform(.find(FindRequest(query, wantsSecrets: true))) else {
                return []
            }
            // What is no certificate has issued none.
            return items.compactMap { item in item.secret.flatMap { try? X509Certificate($0.copyData()) } }
        } catch  where error.code == .itemNotFound {
            return []
        }
    }
}
