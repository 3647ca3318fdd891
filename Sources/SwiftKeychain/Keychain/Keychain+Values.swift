public import Foundation
public import KeychainModel

// What can be done with values, each call blocking its thread until it is done. Keychain+Tasks.swift has the same for tasks.

extension Keychain {
    // MARK: Reading

    /// The text that is stored for a key; nil: nothing is.
    ///
    /// - Throws: ``KeychainError/Code/interactionNotAllowed`` while the item is locked, or a person would have to be asked and
    ///   may not be; ``KeychainError/Code/userCancelled`` if the person declines; ``KeychainError/Code/decode`` if the bytes
    ///   are no UTF-8.
    public func string(for key: String) throws(KeychainError) -> String? {
        try item(for: key)?.value.text(for: key)
    }

    /// The bytes that are stored for a key, whatever they were stored as; nil: nothing is.
    public func data(for key: String) throws(KeychainError) -> Data? {
        try item(for: key)?.value.copyData()
    }

    /// The value that is stored for a key; nil: nothing is.
    ///
    /// A `String` and a `Data` are the bytes themselves, also where the type is known at run time alone. All else is decoded
    /// by ``coding``.
    ///
    /// - Throws: ``KeychainError/Code/decode`` if the bytes are no such value; otherwise as `string(for:)`.
    public func value<Value: Decodable>(_ type: Value.Type = Value.self, for key: String) throws(KeychainError)
        -> Value?
    {
        try item(for: key).map { item throws(KeychainError) in try coding.value(type, of: item.value, for: key) }
    }

    /// The bytes that are stored for a key, in memory that is erased when the value goes; nil: nothing is.
    public func secret(for key: String) throws(KeychainError) -> Secret? {
        guard let item = try item(for: key) else { return nil }
        return Secret(item.value)
    }

    /// Runs `body` with the bytes that are stored for a key. They are erased afterwards.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - body: Must not let the pointer escape.
    /// - Returns: nil: nothing is stored for the key, and `body` was not called.
    /// - Throws: a ``KeychainError``, or what `body` throws.
    public func withSecret<R>(for key: String, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
        try item(for: key).map { try $0.value.withUnsafeBytes(body) }
    }

    /// Whether something is stored for a key. Nobody is asked for that, also if reading it would ask.
    public func contains(_ key: String) throws(KeychainError) -> Bool {
        try !commit(TransactionRequest(seen: [SeenItems(try query(for: key), versions: [])], steps: []))
    }

    /// All keys, in no order that means anything. If reading one of the items asks a person, this does.
    public func keys() throws(KeychainError) -> [String] { try allItems().map(\.key) }

    /// How many keys there are. If reading one of the items asks a person, this does.
    public func count() throws(KeychainError) -> Int { try allItems().count }

    // MARK: Writing

    /// Stores a value for a key, in the place of whatever is stored for it.
    ///
    /// What the item has besides (its dates, comments that other code gave it) stays, and so does its access control, unless
    /// ``accessControl`` says another one.
    ///
    /// - Throws: ``KeychainError/Code/parameter`` if the value cannot be encoded;
    ///   ``KeychainError/Code/interactionNotAllowed`` while the item is locked; ``KeychainError/Code/missingEntitlement`` for
    ///   a group that the program does not hold. After a failure what was there is there.
    public func set<Value: Encodable>(_ value: Value, for key: String) throws(KeychainError) {
        try put(try coding.secret(of: value, for: key), for: key)
    }

    /// Stores bytes for a key, in the place of whatever is stored for it.
    public func set(_ secret: borrowing Secret, for key: String) throws(KeychainError) {
        try put(secret.bytes, for: key)
    }

    /// A value that may be nil says nothing about what is to become of the key: unwrap it, or call ``remove(_:)``.
    @available(*, unavailable, message: "unwrap the value, or call remove(_:)")
    public func set<Value: Encodable>(_ value: Value?, for key: String) throws(KeychainError) {
        fatalError("unavailable")
    }

    func put(_ secret: SecretBytes, for key: String) throws(KeychainError) {
        _ = try commit(TransactionRequest(steps: [.put(try addRequest(secret, for: key))]))
    }

    /// Stores a value for a key that has none.
    ///
    /// - Throws: ``KeychainError/Code/duplicateItem`` if it has one; otherwise as `set(_:for:)`.
    public func add<Value: Encodable>(_ value: Value, for key: String) throws(KeychainError) {
        _ = try perform(.add(try addRequest(try coding.secret(of: value, for: key), for: key)))
    }

    /// Stores a value for a key that has one.
    ///
    /// - Throws: ``KeychainError/Code/itemNotFound`` if it has none; otherwise as `set(_:for:)`.
    public func update<Value: Encodable>(_ value: Value, for key: String) throws(KeychainError) {
        var changes = ItemChanges()
        changes.secret = try coding.secret(of: value, for: key)
        changes.accessControl = accessControl?.model
        _ = try perform(.update(UpdateRequest(try query(for: key), changes: changes)))
    }

    /// Removes what is stored for a key. Nobody is asked for that, unless the access control constrains deletion.
    ///
    /// - Returns: whether something was.
    @discardableResult
    public func remove(_ key: String) throws(KeychainError) -> Bool { try delete(try query(for: key)) > 0 }

    /// Removes all that this value stands for: of its service or server, in its group, with its prefix, and nothing else.
    ///
    /// - Returns: how many items there were.
    @discardableResult
    public func removeAll() throws(KeychainError) -> Int {
        if keyPrefix.isEmpty { return try delete(try query(for: nil)) }
        return try attempt { () throws(KeychainError) in
            let items = try allItems()
            let seen = try items.map { item throws(KeychainError) in
                SeenItems(try query(for: item.key), versions: [ItemVersion(item.item)])
            }
            let steps = seen.map { TransactionRequest.Step.delete($0.query) }
            return try commit(TransactionRequest(seen: seen, steps: steps)) ? items.count : nil
        }
    }

    // MARK: Several programs at once

    /// Changes a value as it is at the moment: if somebody else has changed it meanwhile, `change` is called again, with what
    /// it is then.
    ///
    /// - Parameters:
    ///   - type: As what it is read; a `String` and a `Data` are the bytes themselves.
    ///   - key: The item's key.
    ///   - change: Is given nil if nothing is stored for the key. Where it leaves nil, the item is removed. It may be called
    ///     several times, and so should do nothing else.
    /// - Throws: a ``KeychainError``, or what `change` throws; then nothing is changed.
    public func update<Value: Codable>(
        _ type: Value.Type = Value.self, for key: String, _ change: (inout Value?) throws -> Void
    ) throws {
        for _ in 0..<Self.mostAttempts {
            let former = try item(for: key)
            var value = try former.map { try coding.value(type, of: $0.value, for: key) }
            try change(&value)
            if try replace(former, by: value, for: key) { return }
        }
        throw KeychainError.changedAllTheTime
    }

    /// Stores another value for a key if it is a certain one now.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - old: What has to be stored now; nil: nothing.
    ///   - new: nil: the item is removed.
    /// - Returns: whether it was so, and the new one is stored.
    public func compareAndSwap<Value: Codable & Equatable>(
        _ key: String, from old: Value?, to new: Value?
    ) throws(KeychainError) -> Bool {
        let former = try item(for: key)
        let value = try former.map { item throws(KeychainError) in
            try coding.value(Value.self, of: item.value, for: key)
        }
        guard value == old else { return false }
        return try replace(former, by: new, for: key)
    }

    static let mostAttempts = 100

    func attempt<R>(_ body: () throws(KeychainError) -> R?) throws(KeychainError) -> R {
        for _ in 0..<Self.mostAttempts { if let result = try body() { return result } }
        throw .changedAllTheTime
    }

    /// - Returns: false if it is not `former` any more.
    private func replace<Value: Encodable>(
        _ former: Item?, by new: Value?, for key: String
    ) throws(KeychainError) -> Bool {
        let query = try query(for: key)
        let seen = SeenItems(query, versions: former.map { [ItemVersion($0)] } ?? [])
        let step: TransactionRequest.Step =
            if let new { .put(try addRequest(try coding.secret(of: new, for: key), for: key)) } else { .delete(query) }
        return try commit(TransactionRequest(seen: [seen], steps: [step]))
    }
}
