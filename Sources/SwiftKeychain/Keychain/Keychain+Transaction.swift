public import Foundation
public import KeychainModel

extension Keychain {
    /// Several changes that happen together: all of them, or none.
    ///
    /// What is read in it is the state at the time, with the changes made in it so far.
    public struct Transaction {
        private let keychain: Keychain
        /// By key. nil: removed.
        private var changes: [(key: String, secret: SecretBytes?)] = []
        private var seen: [String: Item?] = [:]
        private var seenAll: (items: SeenItems, keys: Set<String>)?

        fileprivate init(_ keychain: Keychain) { self.keychain = keychain }

        // MARK: Reading

        /// As `Keychain.string(for:)`.
        public mutating func string(for key: String) throws(KeychainError) -> String? {
            try bytes(for: key)?.text(for: key)
        }

        /// As `Keychain.data(for:)`.
        public mutating func data(for key: String) throws(KeychainError) -> Data? {
            try bytes(for: key)?.copyData()
        }

        /// As `Keychain.value(_:for:)`.
        public mutating func value<Value: Decodable>(
            _ type: Value.Type = Value.self, for key: String
        ) throws(KeychainError) -> Value? {
            let coding = keychain.coding
            return try bytes(for: key).map { bytes throws(KeychainError) in try coding.value(type, of: bytes, for: key)
            }
        }

        /// Whether something is stored for a key.
        public mutating func contains(_ key: String) throws(KeychainError) -> Bool { try bytes(for: key) != nil }

        /// As `Keychain.keys()`.
        public mutating func keys() throws(KeychainError) -> [String] {
            if seenAll == nil { seenAll = try lookAtAll() }
            var keys = seenAll?.keys ?? []
            for change in changes {
                if change.secret == nil { keys.remove(change.key) } else { keys.insert(change.key) }
            }
            return Array(keys)
        }

        private func lookAtAll() throws(KeychainError) -> (items: SeenItems, keys: Set<String>) {
            let query = try keychain.query(for: nil)
            let items = try keychain.items(query, wantsSecrets: false)
            return (SeenItems(query, versions: items.map(ItemVersion.init)), Set(items.compactMap(keychain.key)))
        }

        /// nil: there is no such item, or it is removed here.
        private mutating func bytes(for key: String) throws(KeychainError) -> SecretBytes? {
            if let change = changes.first(where: { $0.key == key }) { return change.secret }
            if let known = seen[key] { return known?.value }
            let item = try keychain.item(for: key)
            seen.updateValue(item, forKey: key)
            return item?.value
        }

        // MARK: Changing

        /// As `Keychain.set(_:for:)`, when the transaction ends.
        public mutating func set<Value: Encodable>(_ value: Value, for key: String) throws(KeychainError) {
            change(key, to: try keychain.coding.secret(of: value, for: key))
        }

        /// As `Keychain.remove(_:)`, when the transaction ends.
        public mutating func remove(_ key: String) { change(key, to: nil) }

        private mutating func change(_ key: String, to secret: SecretBytes?) {
            changes.removeAll { $0.key == key }
            changes.append((key, secret))
        }

        // MARK: The end

        /// - Returns: false if something that was read has changed since.
        fileprivate func commit() throws(KeychainError) -> Bool {
            var request = TransactionRequest(steps: [])
            if let seenAll { request.seen.append(seenAll.items) }
            for (key, item) in seen {
                request.seen.append(
                    SeenItems(try keychain.query(for: key), versions: item.map { [ItemVersion($0)] } ?? []))
            }
            for (key, secret) in changes {
                if let secret {
                    request.steps.append(.put(try keychain.addRequest(secret, for: key)))
                } else {
                    request.steps.append(.delete(try keychain.query(for: key)))
                }
            }
            return try keychain.commit(request)
        }
    }

    /// Makes several changes at once: all of them, or none, also if the program is killed meanwhile.
    ///
    /// ```swift
    /// try keychain.transaction { changes in
    ///     guard try changes.string(for: "refreshToken") == old else { return }
    ///     try changes.set(new, for: "refreshToken")
    ///     changes.remove("accessToken")
    /// }
    /// ```
    ///
    /// Nothing is locked while `body` runs. If something that it has read was changed by somebody else before its changes are
    /// made, it is called again. It should do nothing else, therefore, and be quick.
    ///
    /// - Returns: what `body` returns.
    /// - Throws: a ``KeychainError``, or what `body` throws; then nothing is changed.
    public func transaction<R>(_ body: (inout Transaction) throws -> R) throws -> R {
        for _ in 0..<Self.mostAttempts {
            var transaction = Transaction(self)
            let result = try body(&transaction)
            if try transaction.commit() { return result }
        }
        throw KeychainError.changedAllTheTime
    }

    /// Moves all items of another service, server class aside, or of another group or prefix, to this one: in one transaction,
    /// with their dates and access control. ``accessControl`` gives them another one, if it is not nil.
    ///
    /// Once it has succeeded, a second call finds nothing to do and succeeds. What is here already is not moved.
    ///
    /// - Parameters:
    ///   - other: The same class: both a service, or both a server.
    ///   - replacing: Whether what is stored here for the same key gives way. If not, it is a failure, and nothing is moved.
    /// - Returns: how many items there were.
    /// - Throws: ``KeychainError/Code/duplicateItem``; ``KeychainError/Code/parameter`` for another class; otherwise as
    ///   `set(_:for:)`.
    @discardableResult
    public func migrate(from other: Keychain, replacing: Bool = false) throws(KeychainError) -> Int {
        guard itemClass == other.itemClass else {
            throw KeychainError(
                .parameter, message: "a service cannot take the items of a server, nor a server those of a service")
        }
        return try attempt { () throws(KeychainError) in
            let items = try other.allItems()
            var request = TransactionRequest(steps: [])
            for (key, item) in items where try !isHere(item, from: other) {
                let query = try other.query(for: key)
                request.seen.append(SeenItems(query, versions: [ItemVersion(item)]))
                if replacing { request.steps.append(.delete(try self.query(for: key))) }
                request.steps.append(.update(UpdateRequest(query, changes: try changes(movingHere: key))))
            }
            return try commit(request) ? request.seen.count : nil
        }
    }

    /// Whether an item of another value's is one of this one's already. What has a longer prefix there gets a shorter one here.
    private func isHere(_ item: Item, from other: Keychain) throws(KeychainError) -> Bool {
        guard keyPrefix.utf8.starts(with: other.keyPrefix.utf8), let key = key(of: item) else { return false }
        let here = try query(for: key)
        return here.attributes.entries.allSatisfy { item.attributes[$0.attribute].map($0.value.matches) ?? false }
            && here.accessGroup?.isSameGroup(as: item.accessGroup) ?? false && isSynchronizable == item.synchronizable
    }

    private func changes(movingHere key: String) throws(KeychainError) -> ItemChanges {
        var changes = ItemChanges()
        changes.attributes = attributes(account: keyPrefix + key)
        changes.accessGroup = try group()
        changes.synchronizable = isSynchronizable
        changes.accessControl = accessControl?.model
        return changes
    }
}
