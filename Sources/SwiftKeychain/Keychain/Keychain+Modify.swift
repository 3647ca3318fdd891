internal import KeychainClient
public import KeychainModel

// The calls for a value that other programs change too. They block their threads. Keychain+Tasks.swift has their forms
// for tasks.

extension KeychainBlockingCalls {
    /// Changes the value of a key in one step that no other program can come between.
    ///
    /// ```swift
    /// try keychain.modify(Int.self, for: "count") { $0 = ($0 ?? 0) + 1 }
    /// ```
    ///
    /// If another program changes the value meanwhile, `change` is called again with the new value. After 100 attempts
    /// the call gives up. An item that is there keeps everything but its value, as with `set(_:for:)`.
    ///
    /// - Parameters:
    ///   - type: The type of the value, as for `value(_:for:)`.
    ///   - key: The item's key.
    ///   - change: Changes the value, which is `nil` if no item is stored. The item is removed if the result is `nil`.
    ///     The function may be called several times, so it should do no other work. A call of the keychain for this
    ///     key throws `.parameter` in it.
    /// - Throws: The errors of `value(_:for:)` and `set(_:for:)`, or an error of `change`. The former value is still
    ///   there then.
    public func modify<Value: Codable>(
        _ type: Value.Type = Value.self, for key: String, _ change: (inout Value?) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        try attempts(type, for: key) { value in Result { () throws(KeychainError) in try change(&value) } }.get()
    }

    /// This form takes a closure that throws any error.
    @_disfavoredOverload
    public func modify<Value: Codable>(
        _ type: Value.Type = Value.self, for key: String, _ change: (inout Value?) throws -> Void
    ) throws {
        try attempts(type, for: key) { value in Result { try change(&value) } }.get()
    }

    /// - Returns: The failure of `change`, and nothing was changed then.
    func attempts<Value: Codable, Failure: Error>(
        _ type: Value.Type, for key: String, _ change: (inout Value?) -> Result<Void, Failure>
    ) throws(KeychainError) -> Result<Void, Failure> {
        let (keychain, query) = (keychain, try keychain.query(for: key))
        for _ in 0..<Connection.mostAttempts {
            let former = try keychain.item(for: key)
            var value = try former.map { item throws(KeychainError) in
                try keychain.coding.value(type, of: item.value, for: key)
            }
            let result = keychain.connection.deciding(about: query) { change(&value) }
            guard case .success = result else { return result }
            if try keychain.replace(former, by: value, for: key) { return result }
        }
        throw .changedAllTheTime
    }

    /// Stores another value for a key if the present one is the expected one. An item that is there keeps everything
    /// but its value.
    ///
    /// ```swift
    /// if try !keychain.compareAndSwap("token", from: old, to: new) { print("another program was faster") }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - old: The expected value. `nil` means that no item is stored.
    ///   - new: The new value. `nil` removes the item.
    /// - Returns: Whether the new value is stored. false means that the present value is another one, and nothing was
    ///   changed.
    /// - Throws: The errors of `value(_:for:)` and `set(_:for:)`.
    public func compareAndSwap<Value: Codable & Equatable>(
        _ key: String, from old: Value?, to new: Value?
    ) throws(KeychainError) -> Bool {
        let keychain = keychain
        let former = try keychain.item(for: key)
        let value = try former.map { item throws(KeychainError) in
            try keychain.coding.value(Value.self, of: item.value, for: key)
        }
        guard former == nil ? old.isNothing : value == old else { return false }
        return try keychain.replace(former, by: new, for: key)
    }
}

extension Keychain {
    /// - Returns: false if it is not `former` any more.
    fileprivate func replace<Value: Encodable>(
        _ former: Item?, by new: Value?, for key: String
    ) throws(KeychainError) -> Bool {
        let query = try query(for: key)
        let seen = SeenItems(query, versions: former.map { [ItemVersion($0)] } ?? [])
        let step: TransactionRequest.Step =
            if let secret = try coding.secret(of: new, for: key) {
                .put(try addRequest(secret, for: key, Remarks()))
            } else {
                .delete(query)
            }
        return try commit(TransactionRequest(seen: [seen], steps: [step]))
    }
}
