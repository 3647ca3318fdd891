internal import KeychainClient
internal import KeychainModel

extension KeychainSession {
    /// The item that a command means.
    struct Meaning {
        let query: ItemQuery
        /// Whether the query is for one item, which stays the same if others are added meanwhile. Otherwise its matches ask
        /// for authentication, so that their number is unknown.
        let isExact: Bool
    }

    /// - Parameters:
    ///   - levels: Queries for every match; see ``ItemFilter/levels(first:isNeeded:)``.
    ///   - amongReachable: Whether only items that are always accessible count before the first unlock.
    /// - Throws: an ``AmbiguousMatch`` if several match, `.itemNotFound` if none does, `.interactionNotAllowed` if the
    ///   keychain is locked.
    func meaning(of levels: [[ItemQuery]], amongReachable: Bool = false) throws -> Meaning {
        let hits = try hits(of: levels, amongReachable: amongReachable)
        if hits.count > 1 { throw AmbiguousMatch(hits) }
        if let (query, item) = hits.readable.first { return Meaning(query: query.meaning(item), isExact: true) }
        return Meaning(query: hits.asking[0], isExact: false)  // a resolution is never empty
    }

    /// The matches of the first level that has any.
    func hits(of levels: [[ItemQuery]], amongReachable: Bool = false) throws(KeychainError) -> Hits {
        let request = ResolveRequest(levels, amongReachable: amongReachable)
        let (resolution, queries) = (try connection.resolve(request), request.queries)
        return Hits(
            readable: resolution.matches.map { (queries[$0.query], $0.item) },
            asking: resolution.asking.map { queries[$0] })
    }

    /// The matches of several queries together.
    struct Hits {
        var readable: [(query: ItemQuery, item: Item)] = []
        /// One query for each class with matches that ask for authentication.
        var asking: [ItemQuery] = []

        /// The number of matches. Matches that ask for authentication count once for each class.
        var count: Int { readable.count + asking.count }
        var items: [Item] { readable.map(\.item) }
    }

    /// A query for exactly the item that is meant.
    ///
    /// The person is asked if some matches ask for authentication: they cannot be counted otherwise.
    ///
    /// - Throws: as ``meaning(of:amongReachable:)``; `.interactionNotAllowed` if no person may be asked, or the error
    ///   of the authentication.
    func soleMatch(of levels: [[ItemQuery]], amongReachable: Bool = false) throws -> ItemQuery {
        let meaning = try meaning(of: levels, amongReachable: amongReachable)
        if meaning.isExact { return meaning.query }
        let items = try items(of: meaning.query, wantsSecrets: false)
        guard items.count == 1 else { throw AmbiguousMatch(Hits(readable: items.map { (meaning.query, $0) })) }
        return meaning.query.meaning(items[0])
    }

    /// The one item that is meant, with its secret if it has one. Before the first unlock only items that are always
    /// accessible count, as they do in the API.
    ///
    /// - Throws: as ``soleMatch(of:amongReachable:)``, and `.decode` if the item's secret does not open.
    func item(of levels: [[ItemQuery]]) throws -> Item {
        try connection.item(try soleMatch(of: levels, amongReachable: true), asking)
    }
}

extension ItemQuery {
    /// A query for one of the matches alone.
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

/// Several items match where one is wanted. The command never guesses: it shows them, without their secrets.
struct AmbiguousMatch: Error {
    let items: [Item]
    private(set) var error: KeychainError

    init(_ hits: KeychainSession.Hits) {
        items = hits.items.sortedForPeople
        let groups = items.map(\.accessGroup).uniqueGroups.sorted()
        guard !items.isEmpty else {
            error = KeychainError(
                .parameter,
                message: "items of several classes match, and all ask for authentication: choose one with its class")
            return
        }
        let more = hits.asking.isEmpty ? "" : ", and at least one that asks for authentication"
        error = KeychainError(
            .parameter,
            message: "\(items.countedByClass) match in the access group\(groups.count > 1 ? "s" : "") "
                + "\(groups.joined(separator: ", "))\(more): \(items.adviceToTellApart)")
    }

    /// The error with more advice at its end.
    func adding(_ advice: String) -> AmbiguousMatch {
        var match = self
        match.error = KeychainError(error.code, message: error.message + advice)
        return match
    }
}

extension [Item] {
    fileprivate var classes: Set<ItemClass> { Set(map(\.itemClass)) }

    fileprivate var countedByClass: String {
        classes.count == 1 ? classes.first!.counted(count) : counted(count, "item")  // one class is the first
    }

    /// The advice to name one of the items by the attributes in which they differ. It never has their values.
    fileprivate var adviceToTellApart: String {
        let isOneClass = classes.count == 1
        let options: [(Attribute, String)] =
            [(.account, "--account")]
            + (isOneClass
                ? [
                    (.internetProtocol, "--protocol"), (.port, "--port"), (.path, "--path"),
                    (.applicationTag, "--tag"), (.label, "--label"),
                ] : [])
        var ways = options.filter { attribute, _ in Set(map { $0.attributes[attribute] }).count > 1 }.map(\.1)
        if map(\.accessGroup).uniqueGroups.count > 1 { ways.insert("--group", at: 0) }
        if Set(map(\.place)).count > 1 { ways.insert("its own name", at: 0) }
        if !isOneClass { ways.insert("its class", at: 0) }
        return ways.isEmpty
            ? "name more attributes, --sync yes or no, or a --reference from 'keychainctl find --json'"
            : "choose one with \(ways.joined(separator: " or "))"
    }
}
