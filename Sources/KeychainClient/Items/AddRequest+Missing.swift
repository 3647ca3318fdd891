package import KeychainModel

extension [AddRequest] {
    /// Adds those of the items that are not there, in one transaction. Of several with the same unique attributes, the first
    /// one is added.
    ///
    /// - Parameter perform: Sends a request.
    /// - Returns: whether each was added.
    package func addMissing(
        _ perform: (Request) throws(KeychainError) -> Reply
    ) throws(KeychainError) -> [Bool] {
        var seen: Set<AddRequest.Place> = []
        let isFirst = map { seen.insert(AddRequest.Place($0.queryForExisting)).inserted }
        var isAdded = try zip(self, isFirst).filter(\.1).map(\.0).addMissingOfDistinct(perform)[...]
        return isFirst.map { $0 && isAdded.removeFirst() }
    }

    private func addMissingOfDistinct(
        _ perform: (Request) throws(KeychainError) -> Reply
    ) throws(KeychainError) -> [Bool] {
        // Usually none is there.
        if try addAll(perform) { return map { _ in true } }
        // Another process may add or delete one between two requests.
        for _ in 0..<10 {
            var isThere: [Bool] = []
            for request in self { isThere.append(try request.queryForExisting.matchesSomething(perform)) }
            let missing = zip(self, isThere).filter { !$0.1 }.map(\.0)
            guard try missing.addAll(perform) else { continue }
            var isAdded = isThere.map { !$0 }
            // The program's first group is not known here: what was found may be in another one.
            for index in indices where !isAdded[index] { isAdded[index] = try [self[index]].addAll(perform) }
            return isAdded
        }
        throw KeychainError(.notAvailable, message: "another program keeps adding and deleting the items; try again")
    }

    /// - Returns: false if one of them is there.
    private func addAll(_ perform: (Request) throws(KeychainError) -> Reply) throws(KeychainError) -> Bool {
        if isEmpty { return true }
        do throws(KeychainError) {
            _ = try perform(.transaction(TransactionRequest(steps: map { .add($0) })))
            return true
        } catch  where error.code == .duplicateItem {
            return false
        }
    }
}

extension AddRequest {
    /// What no two items have in common.
    fileprivate struct Place: Hashable {
        let itemClass: ItemClass
        let attributes: [Attribute: AttributeValue]
        let accessGroup: String?
        let isSynchronizable: Bool

        init(_ query: ItemQuery) {
            itemClass = query.itemClass
            attributes = Dictionary(query.attributes.entries.map { ($0.attribute, $0.value) }) { first, _ in first }
            (accessGroup, isSynchronizable) = (query.accessGroup, query.synchronizable == .yes)
        }
    }

    /// Finds the item that stands in this one's way: the class's unique attributes, group and synchronizability.
    package var queryForExisting: ItemQuery {
        var query = ItemQuery(itemClass)
        query.accessGroup = accessGroup
        query.synchronizable = synchronizable ? .yes : .no
        for rule in AttributeTable.table(for: itemClass).uniqueness
        where rule.attribute != .viewHint && rule.attribute != .tokenID {
            query.attributes[rule.attribute] = attributes[rule.attribute] ?? rule.uniquenessDefault
        }
        return query
    }
}

extension ItemQuery {
    /// Whether there is a match, and be it one that asks for a person, who is not asked.
    fileprivate func matchesSomething(
        _ perform: (Request) throws(KeychainError) -> Reply
    ) throws(KeychainError) -> Bool {
        for choice in [ItemQuery.AuthenticationUI.fail, .skip] {
            var query = self
            query.authenticationUI = choice
            do throws(KeychainError) {
                _ = try perform(.find(FindRequest(query, wantsSecrets: false)))
                return true
            } catch  where error.code == .itemNotFound {
                return choice == .skip
            } catch  where error.code == .interactionNotAllowed && choice == .fail {
                // Either it asks for a person, or the keychain is locked, which the second search says again.
            }
        }
        return true
    }
}
