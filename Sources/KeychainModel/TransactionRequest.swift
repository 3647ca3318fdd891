package import FoundationEssentials

/// Several changes of items: all of them, or none.
///
/// Nothing is held open while the caller decides on them. Instead it says which items it has seen, and in which version; if
/// one of them is another by now, nothing is changed.
package struct TransactionRequest: Sendable {
    package enum Step: Sendable {
        case add(AddRequest)
        /// Changes the secret and the attributes of the item with the same unique attributes, or adds one if there is none.
        /// Its access control stays, unless the request names one.
        case put(AddRequest)
        /// It is a failure to find no item.
        case update(UpdateRequest)
        /// If it finds nothing, that is no failure.
        case delete(ItemQuery)
    }

    package var seen: [SeenItems]
    package var steps: [Step]

    package static let mostSeen = 10_000
    package static let mostSteps = 10_000

    /// Whether a daemon takes it.
    package var isWithinLimits: Bool {
        seen.count <= Self.mostSeen && steps.count <= Self.mostSteps
            && seen.allSatisfy { $0.versions.count <= SeenItems.mostVersions }
    }

    package init(seen: [SeenItems] = [], steps: [Step]) {
        self.seen = seen
        self.steps = steps
    }
}

/// The result of a query. The query's limit, and whether the items ask for authentication, make no difference.
package struct SeenItems: Sendable {
    package var query: ItemQuery
    /// The versions in any order.
    package var versions: [ItemVersion]
    /// Whether their secrets were read too. A search for secrets leaves out an item whose secret does not open.
    package var hasSecrets: Bool

    package static let mostVersions = 10_000

    package init(_ query: ItemQuery, versions: [ItemVersion], hasSecrets: Bool = true) {
        self.query = query
        self.versions = versions
        self.hasSecrets = hasSecrets
    }
}

/// An item as it was at some moment: each change gives it a later date of modification, and each add another identifier.
package struct ItemVersion: Sendable, Hashable {
    package var identifier: UUID
    package var modified: Double

    package init(identifier: UUID, modified: Double) {
        self.identifier = identifier
        self.modified = modified
    }

    package init(_ item: Item) { self.init(identifier: item.identifier, modified: item.modified) }
}
