package import FoundationEssentials
package import KeychainModel

extension Connection {
    /// The items that a query finds; none is no failure.
    package func items(
        _ query: ItemQuery, wantsSecrets: Bool, _ asking: Asking? = nil
    ) throws(KeychainError) -> [Item] {
        do throws(KeychainError) {
            return try ask(.find(query, wantsSecrets: wantsSecrets), asking)
        } catch  where error.code == .itemNotFound {
            return []
        }
    }

    /// The item that a query means, with its secret.
    ///
    /// - Throws: `.itemNotFound` if it was deleted a moment ago, `.decode` if its secret does not open: answers leave out
    ///   such items, and this error names the damage.
    package func item(_ query: ItemQuery, _ asking: Asking? = nil) throws(KeychainError) -> Item {
        if let item = try items(query, wantsSecrets: true, asking).first { return item }
        guard try !items(query, wantsSecrets: false, asking).isEmpty else { throw .gone }
        throw KeychainError(
            .decode,
            message: "the item is there, but its secret is damaged or was tampered with: run 'keychainctl doctor', and "
                + "add the item anew")
    }

    /// Finds the items that a name means. No question is asked.
    ///
    /// - Throws: as ``ResolveRequest/resolved(by:)``.
    package func resolve(_ request: ResolveRequest) throws(KeychainError) -> Resolution {
        do throws(KeychainError) {
            let resolution = try ask(.resolve(request))
            let numbers = resolution.matches.map(\.query) + resolution.asking
            guard !numbers.isEmpty, numbers.allSatisfy({ $0 < request.queries.count }) else { throw .unexpectedReply }
            return resolution
        } catch  where error.code == .unimplemented || error.code == .dataTooLarge {
            // Either the daemon does not know the request, or the matches do not fit into its answer.
            return try request.resolved { query throws(KeychainError) in try ask(.find(query, wantsSecrets: false)) }
        }
    }

    /// Finds certificates as far as they open without a question.
    ///
    /// - Parameter subject: The normalized content of their subject; nil: of any.
    /// - Returns: The bytes of the certificates, which may be damaged.
    package func certificates(named subject: Data? = nil) throws(KeychainError) -> [Data] {
        // A question is no reason to make a store.
        guard try placeOfMissingStore() == nil else { return [] }
        var query = ItemQuery(.certificate)
        if let subject { query.attributes = [.subject: .data(subject)] }
        query.synchronizable = .any
        query.limit = .all
        query.authenticationUI = .skip
        return try items(query, wantsSecrets: true).compactMap { $0.secret?.copyData() }
    }
}
