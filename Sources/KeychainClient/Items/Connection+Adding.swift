package import KeychainModel

extension Connection {
    /// Adds an item, or gives the present item with its unique attributes the new secret and attributes. Its access
    /// control stays, unless the request names one.
    ///
    /// - Returns: the item as it is stored.
    package func put(_ request: AddRequest, _ asking: Asking? = nil) throws(KeychainError) -> Item {
        do throws(KeychainError) {
            return try ask(.add(request), asking)
        } catch  where error.code == .duplicateItem {}
        _ = try ask(.commit(TransactionRequest(steps: [.put(request)])), asking)
        guard let item = try items(request.queryForExisting, wantsSecrets: false, asking).first else { throw .gone }
        return item
    }

    /// Adds the items that are missing, in one transaction. Among several with the same unique attributes, the first
    /// one is added.
    ///
    /// - Returns: whether each was added.
    package func addMissing(_ requests: [AddRequest], _ asking: Asking? = nil) throws(KeychainError) -> [Bool] {
        var seen: Set<AddRequest.Place> = []
        let isFirst = requests.map { seen.insert(AddRequest.Place($0.queryForExisting)).inserted }
        var isAdded = try addMissingOfDistinct(zip(requests, isFirst).filter(\.1).map(\.0), asking)[...]
        return isFirst.map { $0 && isAdded.removeFirst() }
    }

    private func addMissingOfDistinct(_ requests: [AddRequest], _ asking: Asking?) throws(KeychainError) -> [Bool] {
        // Usually none of the items is there.
        if try addAll(requests, asking) { return requests.map { _ in true } }
        return try untilUndisturbed { () throws(KeychainError) in
            var isThere: [Bool] = []
            for request in requests { isThere.append(try hasMatch(request.queryForExisting, asking)) }
            guard try addAll(zip(requests, isThere).filter { !$0.1 }.map(\.0), asking) else { return nil }
            var isAdded = isThere.map { !$0 }
            // The program's first group is not known here: the found items may be in another one.
            for index in requests.indices where !isAdded[index] {
                isAdded[index] = try addAll([requests[index]], asking)
            }
            return isAdded
        }
    }

    /// - Returns: false if one of them is there.
    private func addAll(_ requests: [AddRequest], _ asking: Asking?) throws(KeychainError) -> Bool {
        if requests.isEmpty { return true }
        do throws(KeychainError) {
            _ = try ask(.commit(TransactionRequest(steps: requests.map { .add($0) })), asking)
            return true
        } catch  where error.code == .duplicateItem {
            return false
        }
    }

    /// Whether there is a match, also one that needs a person; no question is asked.
    private func hasMatch(_ query: ItemQuery, _ asking: Asking?) throws(KeychainError) -> Bool {
        for choice in [ItemQuery.AuthenticationUI.fail, .skip] {
            var query = query
            query.authenticationUI = choice
            do throws(KeychainError) {
                _ = try ask(.find(query, wantsSecrets: false), asking)
                return true
            } catch  where error.code == .itemNotFound {
                return choice == .skip
            } catch  where error.code == .interactionNotAllowed && choice == .fail {
                // Either it asks for a person, or the keychain is locked, which the second search says again.
            }
        }
        return true
    }

    /// How often a change is begun again because another program changed the same items.
    package static let mostAttempts = 100

    /// Repeats `body` until it has a result: it has none if another program changed the items that it had looked at.
    package func untilUndisturbed<R>(_ body: () throws(KeychainError) -> R?) throws(KeychainError) -> R {
        for _ in 0..<Self.mostAttempts { if let result = try body() { return result } }
        throw .changedAllTheTime
    }
}

extension KeychainError {
    package static var changedAllTheTime: KeychainError {
        KeychainError(.notAvailable, message: "other programs change the same items all the time: try again later")
    }

    /// The item was found, and is not there any more.
    package static var gone: KeychainError {
        KeychainError(.itemNotFound, message: "another program has deleted the item a moment ago")
    }
}

extension AddRequest {
    /// The values that no two items have in common.
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
