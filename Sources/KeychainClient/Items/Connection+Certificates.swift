package import Foundation
package import KeychainModel

extension Connection {
    /// Finds certificates as authorities that may have issued others: those that a person need not be asked for.
    ///
    /// - Parameter subject: The normalized content of their subject.
    /// - Returns: Their bytes, which may be anything.
    package func certificates(named subject: Data) throws(KeychainError) -> [Data] {
        // A question is no reason to make a store.
        guard try placeOfMissingStore() == nil else { return [] }
        var query = ItemQuery(.certificate)
        query.attributes = [.subject: .data(subject)]
        query.synchronizable = .any
        query.limit = .all
        query.authenticationUI = .skip
        do throws(KeychainError) {
            guard case .found(let items) = try perform(.find(FindRequest(query, wantsSecrets: true))) else { return [] }
            return items.compactMap { $0.secret?.copyData() }
        } catch  where error.code == .itemNotFound {
            return []
        }
    }
}
