internal import KeychainModel

extension ItemOperations {
    /// The most changes of a transaction that other writes may share.
    private static let mostOrdinarySteps = 64

    /// Makes all changes, or none.
    ///
    /// - Returns: false if an item is not as the caller has seen it. Then nothing was changed.
    func commit(_ request: TransactionRequest, from caller: Caller) throws -> Bool {
        // Items are sealed before the lock is taken if possible, so that a large secret keeps no other writer waiting.
        let steps = try request.steps.map { try prepared($0, from: caller) }
        let policy = AccessPolicy(caller: caller)
        let seen = try request.seen.map { (items: $0, scope: try policy.scopeForReading($0.query.accessGroup)) }
        func isUnchanged(_ connection: StoreConnection) throws -> Bool {
            try seen.allSatisfy { try self.isUnchanged($0.items, in: $0.scope, on: connection) }
        }
        // A request without changes waits for no writer.
        if steps.isEmpty {
            let answer = try read(isUnchanged)
            try keys.requireWithinGrace()
            return answer
        }
        return try write(isLarge: steps.count > Self.mostOrdinarySteps) { connection in
            guard try isUnchanged(connection) else { return false }
            for step in steps { try step(connection) }
            return true
        }
    }

    private func isUnchanged(_ items: SeenItems, in scope: GroupScope, on connection: StoreConnection) throws -> Bool {
        var missing = Set(items.versions)
        var isUnchanged = true
        try forEachMatch(of: items.query, in: scope, on: connection, wantsSecrets: items.hasSecrets) { row in
            // An invalidated item is in no answer, so the caller has not seen it.
            if try authentication.isInvalidated(row.item.accessControl) { return true }
            isUnchanged = missing.remove(ItemVersion(row.item)) != nil
            return isUnchanged
        }
        return isUnchanged && missing.isEmpty
    }

    private func prepared(
        _ step: TransactionRequest.Step, from caller: Caller
    ) throws -> (StoreConnection) throws -> Void {
        switch step {
        case .add(let request):
            let item = try newItem(request, from: caller)
            let sealed = try seal(item, version: 1)
            return { try insert(item, sealed, on: $0) }
        case .put(let request):
            let item = try newItem(request, from: caller)
            var changes = ItemChanges()
            changes.attributes = request.attributes
            changes.secret = request.secret
            changes.expires = request.expires
            if request.accessControl != nil { changes.accessControl = item.accessControl }
            return { try put(item, changes, on: $0) }
        case .update(let request):
            try requireRow(request.query)
            return try preparedUpdate(request, from: caller)
        case .delete(let query):
            try requireRow(query)
            let scope = try AccessPolicy(caller: caller).scopeForWriting(query.accessGroup)
            return { _ = try delete(query, in: scope, on: $0) }
        }
    }

    /// Changes the item with the same unique attributes; adds `item` if no such item opens.
    private func put(_ item: Item, _ changes: ItemChanges, on connection: StoreConnection) throws {
        let place = try Placement(item, keys: keys)
        try requireCertainty(place, item.itemClass, on: connection)
        for token in place.rivals {
            guard let id = try connection.item(withUniqueness: token),
                let present = try openRival(
                    id, on: connection,
                    { other throws(KeychainError) in
                        try hasUniqueness(token, other)
                    }),
                try !authentication.isInvalidated(present.accessControl)
            else { continue }
            // Every update opens the secret, so it needs the consent that reading needs.
            _ = try mayChange(present, .allow)
            if try update(id, as: item.itemClass, changes, on: connection) { return }
        }
        try insert(item, try seal(item, version: 1), on: connection)
    }

    private func requireRow(_ query: ItemQuery) throws(KeychainError) {
        guard query.itemClass != .identity else {
            throw KeychainError(
                .parameter, message: "a transaction changes an identity as a certificate and a key, one by one")
        }
    }
}
