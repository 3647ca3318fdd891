internal import KeychainClient
internal import KeychainModel

/// The one item that a command acts on.
extension KeychainSession {
    /// Which item is meant.
    enum Meaning {
        /// This one, whatever is added meanwhile.
        case exactly(ItemQuery)
        /// Something that asks for authentication, so that nobody can count what matches.
        case asking(ItemQuery)

        var query: ItemQuery {
            switch self {
            case .exactly(let query), .asking(let query): query
            }
        }
    }

    /// - Parameters:
    ///   - levels: Queries for every match; see ``ItemFilter/levels(first:isNeeded:)``.
    ///   - amongReachable: Whether, before the first unlock, only items count that are always accessible.
    /// - Throws: an ``AmbiguousMatch`` if several match, `.itemNotFound` if none does, `.interactionNotAllowed` if the
    ///   keychain is locked.
    func meaning(of levels: [[ItemQuery]], amongReachable: Bool = false) throws -> Meaning {
        var absence = KeychainError.unexpectedReply
        for level in levels {
            let hits = try hits(of: level, absence: &absence, amongReachable: amongReachable)
            if hits.count > 1 { throw AmbiguousMatch(hits) }
            if let (query, item) = hits.readable.first { return .exactly(query.meaning(item)) }
            if let query = hits.asking.first { return .asking(query) }
        }
        throw absence
    }

    /// Every match of the first level that has any.
    func hits(of levels: [[ItemQuery]]) throws -> Hits {
        var absence = KeychainError.unexpectedReply
        for level in levels {
            let hits = try hits(of: level, absence: &absence)
            if hits.count > 0 { return hits }
        }
        throw absence
    }

    /// The matches of several queries together.
    struct Hits {
        var readable: [(query: ItemQuery, item: Item)] = []
        /// Queries some matches of which ask for authentication, one for each class.
        var asking: [ItemQuery] = []

        /// Those that ask count once for each class: how many there are nobody can say.
        var count: Int { readable.count + asking.count }
        var items: [Item] { readable.map(\.item) }
    }

    private func hits(
        of level: [ItemQuery], absence: inout KeychainError, amongReachable: Bool = false
    ) throws(KeychainError) -> Hits {
        var hits = Hits()
        var refusal: KeychainError?
        for query in level {
            do throws(KeychainError) {
                let matches =
                    amongReachable ? try findReachable(query, otherwise: &refusal) : try find(query)
                for item in matches.items where !hits.items.contains(where: { $0.identifier == item.identifier }) {
                    hits.readable.append((query, item))
                }
                if matches.hasConstrained && !hits.asking.contains(where: { $0.itemClass == query.itemClass }) {
                    hits.asking.append(query)
                }
            } catch  where error.code == .itemNotFound {
                absence = error
            }
        }
        // Something that nobody can see may be meant.
        if let refusal, hits.count == 0 { throw refusal }
        return hits
    }

    /// Every match; if some are out of reach, those that are always accessible.
    ///
    /// - Parameter refusal: Set to why some are out of reach.
    private func findReachable(
        _ query: ItemQuery, otherwise refusal: inout KeychainError?
    ) throws(KeychainError) -> Matches {
        do throws(KeychainError) {
            return try find(query)
        } catch  where error.code == .interactionNotAllowed && query.protection == nil {
            refusal = error
        }
        var found = Matches(items: [], hasConstrained: false)
        for protection in [Protection.always, .alwaysThisDeviceOnly] {
            var query = query
            query.protection = protection
            do throws(KeychainError) {
                let matches = try find(query)
                found.items += matches.items
                if matches.hasConstrained { found.hasConstrained = true }
            } catch  where error.code == .itemNotFound {}
        }
        return found
    }

    /// A query for exactly the item that is meant.
    ///
    /// If some of what matches asks for authentication, the person is asked: nobody could count it otherwise.
    ///
    /// - Throws: as ``meaning(of:amongReachable:)``; `.interactionNotAllowed` if nobody may be asked, or how the
    ///   authentication ended.
    func soleMatch(of levels: [[ItemQuery]], amongReachable: Bool = false) throws -> ItemQuery {
        switch try meaning(of: levels, amongReachable: amongReachable) {
        case .exactly(let query): return query
        case .asking(let query):
            let items = try items(of: query, wantsSecrets: false)
            guard items.count == 1 else { throw AmbiguousMatch(Hits(readable: items.map { (query, $0) })) }
            return query.meaning(items[0])
        }
    }

    /// The one item that is meant, with its secret if it has one. Before the first unlock an item that is always accessible
    /// is read whatever else is stored, as by the API.
    ///
    /// - Throws: as ``soleMatch(of:amongReachable:)``, and `.decode` if it is there and its secret does not open.
    func item(of levels: [[ItemQuery]]) throws -> Item {
        let exact = try soleMatch(of: levels, amongReachable: true)
        switch result(of: exact, wantsSecrets: true) {
        case .success(let items):
            guard let item = items.first else { throw KeychainError.unexpectedReply }
            return item
        case .failure(let error) where error.code == .itemNotFound:
            // Deleted a moment ago, or damaged: what does not open is left out of answers. Here that would be a lie.
            _ = try items(of: exact, wantsSecrets: false)
            throw KeychainError(
                .decode,
                message: "the item is there, but its secret is damaged or was tampered with: "
                    + "run 'keychainctl doctor', and add the item anew",
                cause: error)
        case .failure(let error):
            throw error
        }
    }

    private func result(of query: ItemQuery, wantsSecrets: Bool) -> Result<[Item], KeychainError> {
        Result { () throws(KeychainError) in try items(of: query, wantsSecrets: wantsSecrets) }
    }
}

extension ItemQuery {
    /// The item alone, which is one of the matches.
    func meaning(_ item: Item) -> ItemQuery {
        var exact = self
        exact.persistentReference = item.persistentReference
        return exact
    }
}

extension Item {
    /// - Throws: `.unimplemented` for a key in the engine.
    func requireSecret() throws -> SecretBytes {
        if let secret { return secret }
        guard !isKeptInEngine else { throw KeychainError.keyStaysInEngine }
        throw ToolFailure(message: "the \(itemClass.title) has no secret: it was added without one")
    }
}
