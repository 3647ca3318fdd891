internal import FoundationEssentials

/// The search for the items that a name means.
package struct ResolveRequest: Sendable {
    /// The likeliest meanings first. The first level with a match decides, and its matches count alike.
    package var levels: [[ItemQuery]]
    /// Whether the items that are always accessible count while others are out of reach.
    package var amongReachable: Bool

    /// The most queries in all levels together. The command sends 14 at most.
    package static let mostQueries = 16

    package init(_ levels: [[ItemQuery]], amongReachable: Bool = false) {
        (self.levels, self.amongReachable) = (levels, amongReachable)
    }

    package var queries: [ItemQuery] { levels.flatMap(\.self) }
}

/// The items that a name means. A query is named by its number in ``ResolveRequest/queries``.
package struct Resolution: Sendable {
    package struct Match: Sendable {
        package var item: Item
        package var query: Int

        package init(_ item: Item, query: Int) { (self.item, self.query) = (item, query) }

        /// An identity has the identifier of its certificate, and several keys can belong to it.
        fileprivate struct Place: Hashable {
            let identifier: UUID
            let key: [AttributeValue?]

            init(_ item: Item) {
                identifier = item.identifier
                key =
                    item.itemClass == .identity
                    ? [item.attributes[.applicationLabel], item.attributes[.applicationTag]] : []
            }
        }
    }

    /// Attributes only.
    package var matches: [Match] = []
    /// Queries some matches of which ask for authentication, one for each class.
    package var asking: [Int] = []

    package init() {}

    /// Items that need authentication count once for each class, since their number is not known.
    package var count: Int { matches.count + asking.count }
}

extension ResolveRequest {
    /// Looks for the items.
    ///
    /// - Parameter find: Finds all items of a query, attributes only.
    /// - Throws: `.itemNotFound` if there is no match, `.interactionNotAllowed` if the keychain is locked.
    package func resolved(
        by find: (ItemQuery) throws(KeychainError) -> [Item]
    ) throws(KeychainError) -> Resolution {
        let queries = queries
        var absence = KeychainError(.itemNotFound, message: "no item has the name")
        var start = 0
        for level in levels {
            var resolution = Resolution()
            var seen: Set<Resolution.Match.Place> = []
            var refusal: KeychainError?
            for number in start..<start + level.count {
                do throws(KeychainError) {
                    let found = try found(queries[number], otherwise: &refusal, find)
                    for item in found.items where seen.insert(Resolution.Match.Place(item)).inserted {
                        resolution.matches.append(Resolution.Match(item, query: number))
                    }
                    if found.hasConstrained,
                        !resolution.asking.contains(where: { queries[$0].itemClass == queries[number].itemClass })
                    {
                        resolution.asking.append(number)
                    }
                } catch  where error.code == .itemNotFound {
                    absence = error
                }
            }
            if resolution.count > 0 { return resolution }
            // Something that cannot be looked at may be meant.
            if let refusal { throw refusal }
            start += level.count
        }
        throw absence
    }

    /// Every match; if some are out of reach and `amongReachable` is set, the matches that are always accessible.
    ///
    /// - Parameter refusal: Set to the reason for which some are out of reach.
    private func found(
        _ query: ItemQuery, otherwise refusal: inout KeychainError?,
        _ find: (ItemQuery) throws(KeychainError) -> [Item]
    ) throws(KeychainError) -> FoundWithoutAsking {
        do throws(KeychainError) {
            return try query.foundWithoutAsking(by: find)
        } catch  where error.code == .interactionNotAllowed && query.protection == nil && amongReachable {
            refusal = error
        }
        var found = FoundWithoutAsking()
        for protection in [Protection.always, .alwaysThisDeviceOnly] {
            var query = query
            query.protection = protection
            do throws(KeychainError) {
                let more = try query.foundWithoutAsking(by: find)
                found.items += more.items
                if more.hasConstrained { found.hasConstrained = true }
            } catch  where error.code == .itemNotFound {}
        }
        return found
    }
}

/// The matches of a query, and whether others were left out because they ask for authentication.
package struct FoundWithoutAsking: Sendable {
    package var items: [Item] = []
    package var hasConstrained = false

    package init(items: [Item] = [], hasConstrained: Bool = false) {
        (self.items, self.hasConstrained) = (items, hasConstrained)
    }
}

extension ItemQuery {
    /// Every match that needs no authentication.
    ///
    /// - Throws: `.itemNotFound` if there is no match; `.interactionNotAllowed` if the keychain is locked, since items
    ///   that ask for authentication are no failure here.
    package func foundWithoutAsking(
        by find: (ItemQuery) throws(KeychainError) -> [Item]
    ) throws(KeychainError) -> FoundWithoutAsking {
        var query = self
        query.authenticationUI = .fail
        do throws(KeychainError) {
            return FoundWithoutAsking(items: try find(query))
        } catch  where error.code == .interactionNotAllowed {
            // Either some of them ask for authentication or the keychain is locked. Only the latter is refused again,
            // in the engine's own words, when those that ask are left out.
            query.authenticationUI = .skip
            do throws(KeychainError) {
                return FoundWithoutAsking(items: try find(query), hasConstrained: true)
            } catch  where error.code == .itemNotFound {
                // Items that are there but may not be read are not "not found".
                return FoundWithoutAsking(hasConstrained: true)
            }
        }
    }
}
