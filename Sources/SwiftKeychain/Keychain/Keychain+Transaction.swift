public import FoundationEssentials
internal import KeychainClient
public import KeychainModel

extension Keychain {
    /// Several changes that happen together: all of them, or none.
    ///
    /// ```swift
    /// try keychain.transaction { changes in
    ///     let count = try changes.value(Int.self, for: "count") ?? 0
    ///     try changes.set(count + 1, for: "count")
    /// }
    /// ```
    ///
    /// A read gives the stored state with the changes that were made in the transaction so far. Nothing is stored
    /// before the closure returns. The value cannot be copied, so that none is used after its closure.
    public struct Transaction: ~Copyable {
        private let keychain: Keychain
        /// The keychain for reads while the closure runs.
        private let reader: Keychain
        private var changes: [ExactKey: Change] = [:]
        private var seen: [ExactKey: Item?] = [:]
        private var seenAll: (items: SeenItems, keys: Set<ExactKey>)?

        /// The change of one key's item at the end of the transaction.
        private struct Change {
            /// `nil` stands for a removal.
            var secret: SecretBytes?
            var remarks = Remarks()
            /// Whether the item was removed before it was set, so that nothing of it stays.
            var isAnew = false
        }

        fileprivate init(_ keychain: Keychain) {
            self.keychain = keychain
            reader = keychain.with { $0.isOfClosure = true }
        }

        // MARK: Reading

        /// Reads a text, as `Keychain.string(for:)`.
        ///
        /// - Parameter key: The item's key.
        /// - Returns: `nil` if no item is stored for the key, or if the transaction removes it.
        /// - Throws: The errors of `Keychain.string(for:)`.
        public mutating func string(for key: String) throws(KeychainError) -> String? {
            try bytes(for: key)?.text(for: key)
        }

        /// Reads bytes, as `Keychain.data(for:)`.
        ///
        /// - Parameter key: The item's key.
        /// - Returns: `nil` if no item is stored for the key, or if the transaction removes it.
        /// - Throws: The errors of `Keychain.data(for:)`.
        public mutating func data(for key: String) throws(KeychainError) -> Data? {
            try bytes(for: key)?.copyData()
        }

        /// Reads a value, as `Keychain.value(_:for:)`.
        ///
        /// - Parameters:
        ///   - type: The type of the value.
        ///   - key: The item's key.
        /// - Returns: `nil` if no item is stored for the key, or if the transaction removes it.
        /// - Throws: The errors of `Keychain.value(_:for:)`.
        public mutating func value<Value: Decodable>(
            _ type: Value.Type = Value.self, for key: String
        ) throws(KeychainError) -> Value? {
            let coding = keychain.coding
            return try bytes(for: key).map { bytes throws(KeychainError) in try coding.value(type, of: bytes, for: key)
            }
        }

        /// Tells whether an item is stored for a key, with the changes so far. It reads the item, so it may ask a
        /// person.
        ///
        /// - Parameter key: The item's key.
        /// - Throws: The errors of `Keychain.data(for:)`.
        public mutating func contains(_ key: String) throws(KeychainError) -> Bool { try bytes(for: key) != nil }

        /// Finds all keys, with the changes so far.
        ///
        /// Any change of the items by another program makes the closure run again after this call.
        ///
        /// - Throws: The errors of `Keychain.keys()`.
        public mutating func keys() throws(KeychainError) -> [String] {
            if seenAll == nil {
                let (items, seen) = try reader.look()
                seenAll = (seen, Set(items.map { ExactKey($0.key) }))
            }
            var keys = seenAll?.keys ?? []
            for (key, change) in changes {
                if change.secret == nil { keys.remove(key) } else { keys.insert(key) }
            }
            return keys.map(\.text)
        }

        /// The bytes for a key. `nil` means that there is no item, or that it is removed here.
        private mutating func bytes(for key: String) throws(KeychainError) -> SecretBytes? {
            let exact = ExactKey(key)
            if let change = changes[exact] { return change.secret }
            if let known = seen[exact] { return known?.value }
            let item = try reader.item(for: key)
            seen.updateValue(item, forKey: exact)
            return item?.value
        }

        // MARK: Changing

        /// Stores a value when the transaction ends, as `Keychain.set(_:for:)`.
        ///
        /// - Parameters:
        ///   - value: The value. `nil` removes the item.
        ///   - key: The item's key.
        ///   - expires: The moment from which the value is gone. `nil` leaves the present one.
        ///   - label: A text for a person. `nil` leaves the present one.
        ///   - comment: A remark that a person may read. `nil` leaves the present one.
        /// - Throws: ``KeychainError/Code/parameter`` if the value cannot be encoded. Other errors come at the end.
        public mutating func set<Value: Encodable>(
            _ value: Value?, for key: String, expires: Expiration? = nil, label: String? = nil,
            comment: String? = nil
        ) throws(KeychainError) {
            change(key, to: try keychain.coding.secret(of: value, for: key), Remarks(expires, label, comment))
        }

        /// Stores a part of a text or of bytes when the transaction ends.
        ///
        /// - Parameters:
        ///   - slice: A `Substring` or an `ArraySlice<UInt8>`. `nil` removes the item.
        ///   - key: The item's key.
        ///   - expires: The moment from which the value is gone. `nil` leaves the present one.
        ///   - label: A text for a person. `nil` leaves the present one.
        ///   - comment: A remark that a person may read. `nil` leaves the present one.
        /// - Throws: The errors of `set(_:for:)` with a value.
        public mutating func set(
            _ slice: (some KeychainSlice)?, for key: String, expires: Expiration? = nil, label: String? = nil,
            comment: String? = nil
        ) throws(KeychainError) {
            change(key, to: try keychain.coding.secret(of: slice, for: key), Remarks(expires, label, comment))
        }

        /// Stores bytes when the transaction ends.
        ///
        /// - Parameters:
        ///   - secret: The bytes. They stay in memory that is erased.
        ///   - key: The item's key.
        ///   - expires: The moment from which the value is gone. `nil` leaves the present one.
        ///   - label: A text for a person. `nil` leaves the present one.
        ///   - comment: A remark that a person may read. `nil` leaves the present one.
        public mutating func set(
            _ secret: borrowing Secret, for key: String, expires: Expiration? = nil, label: String? = nil,
            comment: String? = nil
        ) {
            change(key, to: secret.bytes, Remarks(expires, label, comment))
        }

        /// Stores bytes when the transaction ends, or removes the item if there are none.
        ///
        /// - Parameters:
        ///   - secret: The bytes. `nil` removes the item.
        ///   - key: The item's key.
        ///   - expires: The moment from which the value is gone. `nil` leaves the present one.
        ///   - label: A text for a person. `nil` leaves the present one.
        ///   - comment: A remark that a person may read. `nil` leaves the present one.
        public mutating func set(
            _ secret: borrowing Secret?, for key: String, expires: Expiration? = nil, label: String? = nil,
            comment: String? = nil
        ) {
            change(key, to: Secret.bytes(of: secret), Remarks(expires, label, comment))
        }

        /// Removes an item when the transaction ends, as `Keychain.remove(_:)`. It is no error if there is none.
        ///
        /// - Parameter key: The item's key.
        public mutating func remove(_ key: String) { change(key, to: nil) }

        private mutating func change(_ key: String, to secret: SecretBytes?, _ remarks: Remarks = Remarks()) {
            let key = ExactKey(key)
            guard let secret, let former = changes[key] else {
                changes[key] = Change(secret: secret, remarks: remarks)
                return
            }
            changes[key] = Change(
                secret: secret, remarks: former.secret == nil ? remarks : remarks.over(former.remarks),
                isAnew: former.isAnew || former.secret == nil)
        }

        // MARK: The end

        /// Sends the changes.
        ///
        /// - Returns: false if an item that was read has changed since.
        fileprivate func commit() throws(KeychainError) -> Bool {
            var request = TransactionRequest(steps: [])
            if let seenAll { request.seen.append(seenAll.items) }
            for (key, item) in seen {
                request.seen.append(
                    SeenItems(
                        try keychain.query(for: key.text), versions: item.map { [ItemVersion($0)] } ?? []))
            }
            for (key, change) in changes {
                if change.secret == nil || change.isAnew {
                    request.steps.append(.delete(try keychain.query(for: key.text)))
                }
                if let secret = change.secret {
                    request.steps.append(.put(try keychain.addRequest(secret, for: key.text, change.remarks)))
                }
            }
            return try keychain.commit(request)
        }
    }
}

extension KeychainBlockingCalls {
    /// Makes several changes at once: all of them, or none, even if the program is killed meanwhile.
    ///
    /// ```swift
    /// try keychain.transaction { changes in
    ///     guard try changes.string(for: "refreshToken") == old else { return }
    ///     try changes.set(new, for: "refreshToken")
    ///     changes.remove("accessToken")
    /// }
    /// ```
    ///
    /// Other programs are not kept waiting while `body` runs. If one of them changes an item that `body` has read,
    /// `body` is called again, up to 100 times. So it should do no other work, and be quick. A call in it, on its
    /// thread, that may be about the same items and does not go through the transaction throws `.parameter`.
    ///
    /// A closure of several errors throws any of them. One that throws nothing but a ``KeychainError`` says so, where the
    /// function around it does:
    ///
    /// ```swift
    /// func signOut() throws(KeychainError) {
    ///     try keychain.transaction { changes throws(KeychainError) in
    ///         for key in try changes.keys() { changes.remove(key) }
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter body: Reads and changes the keychain through the transaction.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `string(for:)` and `set(_:for:)`, or an error of `body`. No item was changed then.
    public func transaction<R>(
        _ body: (inout Keychain.Transaction) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        try attempts { changes in Result { () throws(KeychainError) in try body(&changes) } }.get()
    }

    /// This form takes a closure that throws any error.
    @_disfavoredOverload
    public func transaction<R>(_ body: (inout Keychain.Transaction) throws -> R) throws -> R {
        try attempts { changes in Result { try body(&changes) } }.get()
    }

    /// - Returns: The failure of `body`, and nothing was changed then.
    func attempts<R, Failure: Error>(
        _ body: (inout Keychain.Transaction) -> Result<R, Failure>
    ) throws(KeychainError) -> Result<R, Failure> {
        let (keychain, query) = (keychain, try keychain.query(for: nil))
        for _ in 0..<Connection.mostAttempts {
            var transaction = Keychain.Transaction(keychain)
            let result = keychain.connection.deciding(about: query, prefix: keychain.keyPrefix) { body(&transaction) }
            guard case .success = result else { return result }
            if try transaction.commit() { return result }
        }
        throw .changedAllTheTime
    }

    /// Moves all items of another service, server, group or prefix to this one, in one transaction.
    ///
    /// ```swift
    /// let shared = Keychain(service: "com.example", accessGroup: "com.example.shared")
    /// let count = try shared.migrate(from: Keychain(service: "com.example"))
    /// ```
    ///
    /// The items keep their dates of creation and expiry, and their access control; ``Keychain/accessControl`` gives
    /// them another one if it is not `nil`. A second call finds no item to move and succeeds, so a program may call it at
    /// each start. Items that are here already are not moved.
    ///
    /// - Parameters:
    ///   - other: The value whose items are moved: both a service, or both a server.
    ///   - replacing: Whether an item here gives way to one with its key. Otherwise such an item is an error.
    /// - Returns: The number of items that were moved.
    /// - Throws: ``KeychainError/Code/duplicateItem``; ``KeychainError/Code/parameter`` if one is a service and the
    ///   other a server, or for more than 10,000 items, 5,000 with `replacing`; otherwise the errors of `set(_:for:)`. No
    ///   item was moved then.
    @discardableResult
    public func migrate(from other: Keychain, replacing: Bool = false) throws(KeychainError) -> Int {
        try keychain.takeItems(of: other, replacing: replacing)
    }
}

extension Keychain {
    fileprivate func takeItems(of other: Keychain, replacing: Bool) throws(KeychainError) -> Int {
        guard itemClass == other.itemClass else {
            throw KeychainError(
                .parameter, message: "a service cannot take the items of a server, nor a server those of a service")
        }
        guard connection === other.connection else {
            throw KeychainError(
                .parameter, message: "items move within one keychain: export and import take them to another")
        }
        return try connection.untilUndisturbed { () throws(KeychainError) in
            let (items, seen) = try other.look()
            var request = TransactionRequest(seen: [seen], steps: [])
            var count = 0
            for (key, item) in items where try !isHere(item, from: other) {
                // Where it goes is where it would be taken from again.
                if isSame(but: other), !keyPrefix.utf8.starts(with: other.keyPrefix.utf8),
                    (keyPrefix + key).utf8.starts(with: other.keyPrefix.utf8)
                {
                    throw KeychainError(
                        .parameter,
                        message: "the key \((other.keyPrefix + key).quoted) has the prefix twice: rename it first")
                }
                if replacing { request.steps.append(.delete(try self.query(for: key))) }
                let changes = try changes(movingHere: key)
                request.steps.append(.update(UpdateRequest(try other.query(for: key), changes: changes)))
                count += 1
            }
            if count == 0 { return 0 }
            return try commit(request) ? count : nil
        }
    }

    /// Whether the two differ in the prefix alone.
    private func isSame(but other: Keychain) -> Bool {
        scope == other.scope && accessGroup == other.accessGroup && isSynchronizable == other.isSynchronizable
    }

    /// Whether an item of another value is an item of this one already. An item with a longer prefix there gets a
    /// shorter one here.
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
