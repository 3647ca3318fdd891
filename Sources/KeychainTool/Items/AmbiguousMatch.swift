internal import KeychainModel

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
}

extension AmbiguousMatch {
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
