internal import KeychainModel

extension Engine {
    /// Deletes every item that the query means. A constrained item needs no consent for that, as on Apple's systems.
    func delete(_ query: ItemQuery, from caller: Caller) throws {
        if query.itemClass == .identity { return try deleteIdentities(query, from: caller) }
        let scope = try AccessPolicy(caller: caller).scopeForWriting(query.accessGroup)
        try store.write { connection in
            let ids = try matchingRows(of: query, in: scope, on: connection)
            guard !ids.isEmpty else { throw KeychainError(notFound: query) }
            for id in ids { try connection.delete(id) }
        }
    }
}
