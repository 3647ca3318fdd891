internal import KeychainModel

/// Decides whether a query means an opened item.
///
/// The matcher compares everything that the query names, even if the index was already asked: a person who edits the
/// store's tables can list an item anywhere, but cannot change its sealed content.
struct ItemMatcher {
    let query: ItemQuery
    let scope: GroupScope

    func matches(_ item: Item) -> Bool {
        scope.contains(item.accessGroup)
            && query.synchronizable.matches(item.synchronizable)
            && query.protection.map { $0 == item.accessControl.protection } ?? true
            && query.created.map { $0 == item.created } ?? true
            && query.modified.map { $0 == item.modified } ?? true
            && query.expires.map { $0 == item.expires } ?? true
            && query.persistentReference.map { $0.identifier == item.identifier } ?? true
            && query.attributes.entries.allSatisfy { item.attributes[$0.attribute]?.matches($0.value) ?? false }
            && query.hostOrSubdomainOf.map { isServer(of: item, at: $0) } ?? true
    }

    /// Whether the index alone tells if the query means a row. Everything else that a query can ask is sealed within
    /// the row.
    var isDecidedByIndex: Bool {
        query.created == nil && query.modified == nil && query.expires == nil && query.hostOrSubdomainOf == nil
            // An owner's search goes through the homes of every group, which say nothing of synchronizability.
            && (!scope.isAll || query.synchronizable == .any)
            && query.attributes.entries.allSatisfy { entry in
                AttributeTable.table(for: query.itemClass)[entry.attribute]?.isIndexed == true
            }
    }

    /// Whether the query may mean a row, by the row's protection, which is not sealed.
    func mayMean(rowWith access: UnsafeRawBufferPointer) -> Bool {
        query.protection.map { $0.number == access.first } ?? true
    }

    /// Host names are compared without regard to ASCII case, as DNS does (RFC 4343).
    private func isServer(of item: Item, at host: String) -> Bool {
        guard case .text(let server)? = item.attributes[.server] else { return false }
        let name = server.lowercased()
        let host = host.lowercased()
        return name == host || name.hasSuffix("." + host)
    }
}
