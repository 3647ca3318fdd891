public import FoundationEssentials
internal import KeychainClient
public import KeychainModel

// The calls of Keychain+Values.swift for tasks. They wait on threads that may block, never on one that runs tasks.
//
// A task that is cancelled while a person is asked, or before the call has begun, gets `.taskCancelled`. Otherwise the
// call ends as it would have, so that the program learns whether it was carried out.

extension KeychainTaskCalls {
    /// Runs a call on a thread that may block.
    func inTask<R: Sendable>(
        _ body: @escaping @Sendable (Keychain) throws(KeychainError) -> R
    ) async throws(KeychainError) -> R {
        let cancellation = Cancellation()
        let keychain = keychain.with { $0.cancellation = cancellation }
        let result = await withTaskCancellationHandler {
            await BlockingCalls.shared.result(ifCancelled: .cancelledCall) { () throws(KeychainError) in
                try body(keychain)
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    /// Reads the text for a key without blocking the thread of the task.
    ///
    /// Cancelling the task takes back a question that a person is being asked, and the call throws `.taskCancelled`. A
    /// call that has not begun throws it too. Otherwise the call ends as the blocking one does.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: `nil` if no item is stored for the key.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`.
    public func string(for key: String) async throws(KeychainError) -> String? {
        try await inTask { keychain throws(KeychainError) in try keychain.string(for: key) }
    }

    /// Reads the bytes for a key without blocking the thread of the task.
    ///
    /// Cancelling the task takes back a question that a person is being asked, and the call throws `.taskCancelled`.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: `nil` if no item is stored for the key.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`.
    public func data(for key: String) async throws(KeychainError) -> Data? {
        try await inTask { keychain throws(KeychainError) in try keychain.data(for: key) }
    }

    /// Reads the value for a key without blocking the thread of the task.
    ///
    /// Cancelling the task takes back a question that a person is being asked, and the call throws `.taskCancelled`.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - key: The item's key.
    /// - Returns: `nil` if no item is stored for the key.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, for key: String
    ) async throws(KeychainError) -> Value? {
        try await inTask { keychain throws(KeychainError) in try keychain.value(type, for: key) }
    }

    /// Reads the bytes for a key into memory that is erased, without blocking the thread of the task.
    ///
    /// Cancelling the task takes back a question that a person is being asked, and the call throws `.taskCancelled`.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: `nil` if no item is stored for the key.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`.
    public func secret(for key: String) async throws(KeychainError) -> Secret? {
        let bytes = try await inTask { keychain throws(KeychainError) in
            try keychain.item(for: key)?.value
        }
        guard let bytes else { return nil }
        return Secret(bytes)
    }

    /// Lends the bytes for a key to `body`, without blocking the thread of the task.
    ///
    /// `body` runs on a thread that may block, and the bytes are erased after it. Cancelling the task takes back a
    /// question that a person is being asked, and the call throws `.taskCancelled`.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - body: Uses the bytes. The pointer must not escape.
    /// - Returns: The result of `body`. `nil` means that no item is stored for the key.
    /// - Throws: The errors of the blocking call, an error of `body`, and `.taskCancelled`.
    public func withSecret<R: Sendable>(
        for key: String, _ body: @escaping @Sendable (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) async throws(KeychainError) -> R? {
        try await inTask { keychain throws(KeychainError) in try keychain.withSecret(for: key, body) }
    }

    /// This form takes a closure that throws any error.
    @_disfavoredOverload
    public func withSecret<R: Sendable>(
        for key: String, _ body: @escaping @Sendable (UnsafeRawBufferPointer) throws -> R
    ) async throws -> R? {
        try await withSecret(for: key) { bytes in Result { try body(bytes) } }?.get()
    }

    /// Tells whether an item is stored for a key, without blocking the thread of the task. It never asks a person.
    ///
    /// - Parameter key: The item's key.
    /// - Throws: The errors of the blocking call, and `.taskCancelled` if the task is cancelled before the call begins.
    public func contains(_ key: String) async throws(KeychainError) -> Bool {
        try await inTask { keychain throws(KeychainError) in try keychain.contains(key) }
    }

    /// Finds all keys without blocking the thread of the task, in no particular order.
    ///
    /// Cancelling the task takes back a question that a person is being asked, and the call throws `.taskCancelled`.
    ///
    /// - Throws: The errors of the blocking call, and `.taskCancelled`.
    public func keys() async throws(KeychainError) -> [String] {
        try await inTask { keychain throws(KeychainError) in try keychain.keys() }
    }

    /// Counts the keys without blocking the thread of the task.
    ///
    /// Cancelling the task takes back a question that a person is being asked, and the call throws `.taskCancelled`.
    ///
    /// - Throws: The errors of the blocking call, and `.taskCancelled`.
    public func count() async throws(KeychainError) -> Int {
        try await inTask { keychain throws(KeychainError) in try keychain.count() }
    }

    /// Reads all keys with their values, as they are at one moment, without blocking the thread of the task.
    ///
    /// Cancelling the task takes back a question that a person is being asked, and the call throws `.taskCancelled`.
    ///
    /// - Parameter type: The type of all values.
    /// - Returns: The keys with their values, in no particular order.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`.
    public func items<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self
    ) async throws(KeychainError) -> [(key: String, value: Value)] {
        try await inTask { keychain throws(KeychainError) in try keychain.items(type) }
    }

    /// Reads what is stored beside the value of a key, without blocking the thread of the task. It never asks a person.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: `nil` if no item is stored for the key.
    /// - Throws: The errors of the blocking call, and `.taskCancelled` if the task is cancelled before the call begins.
    public func attributes(for key: String) async throws(KeychainError) -> Keychain.Attributes? {
        try await inTask { keychain throws(KeychainError) in try keychain.attributes(for: key) }
    }

    /// Stores a value for a key without blocking the thread of the task.
    ///
    /// Cancelling the task takes back a question that a person is being asked, and the call throws `.taskCancelled`. A
    /// write that has begun is finished, and the call then returns without an error.
    ///
    /// - Parameters:
    ///   - value: The value. `nil` removes the item.
    ///   - key: The item's key.
    ///   - expires: The moment from which the value is gone. `nil` leaves the present one.
    ///   - label: A text for a person. `nil` leaves the present one.
    ///   - comment: A remark that a person may read. `nil` leaves the present one.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. The former value is still there then.
    public func set<Value: Encodable & Sendable>(
        _ value: Value?, for key: String, expires: Keychain.Expiration? = nil, label: String? = nil,
        comment: String? = nil
    ) async throws(KeychainError) {
        try await inTask { keychain throws(KeychainError) in
            try keychain.set(value, for: key, expires: expires, label: label, comment: comment)
        }
    }

    /// Stores a part of a text or of bytes for a key without blocking the thread of the task.
    ///
    /// A write that has begun is finished even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - slice: A `Substring` or an `ArraySlice<UInt8>`. `nil` removes the item.
    ///   - key: The item's key.
    ///   - expires: The moment from which the value is gone. `nil` leaves the present one.
    ///   - label: A text for a person. `nil` leaves the present one.
    ///   - comment: A remark that a person may read. `nil` leaves the present one.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. The former value is still there then.
    public func set(
        _ slice: (some KeychainSlice)?, for key: String, expires: Keychain.Expiration? = nil, label: String? = nil,
        comment: String? = nil
    ) async throws(KeychainError) {
        try await inTask { keychain throws(KeychainError) in
            try keychain.set(slice, for: key, expires: expires, label: label, comment: comment)
        }
    }

    /// Stores bytes for a key without blocking the thread of the task. They stay in memory that is erased.
    ///
    /// A write that has begun is finished even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - secret: The bytes.
    ///   - key: The item's key.
    ///   - expires: The moment from which the value is gone. `nil` leaves the present one.
    ///   - label: A text for a person. `nil` leaves the present one.
    ///   - comment: A remark that a person may read. `nil` leaves the present one.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. The former value is still there then.
    public func set(
        _ secret: borrowing Secret, for key: String, expires: Keychain.Expiration? = nil, label: String? = nil,
        comment: String? = nil
    ) async throws(KeychainError) {
        try await put(secret.bytes, for: key, Keychain.Remarks(expires, label, comment))
    }

    /// Stores bytes for a key, or removes the item if there are none, without blocking the thread of the task.
    ///
    /// A write that has begun is finished even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - secret: The bytes. `nil` removes the item.
    ///   - key: The item's key.
    ///   - expires: The moment from which the value is gone. `nil` leaves the present one.
    ///   - label: A text for a person. `nil` leaves the present one.
    ///   - comment: A remark that a person may read. `nil` leaves the present one.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. The former value is still there then.
    public func set(
        _ secret: borrowing Secret?, for key: String, expires: Keychain.Expiration? = nil, label: String? = nil,
        comment: String? = nil
    ) async throws(KeychainError) {
        try await put(Secret.bytes(of: secret), for: key, Keychain.Remarks(expires, label, comment))
    }

    private func put(
        _ bytes: SecretBytes?, for key: String, _ remarks: Keychain.Remarks
    ) async throws(KeychainError) {
        try await inTask { keychain throws(KeychainError) in try keychain.put(bytes, for: key, remarks) }
    }

    /// Stores a value for a key that has none, without blocking the thread of the task.
    ///
    /// A write that has begun is finished even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The item's key.
    ///   - expires: The moment from which the value is gone. `nil` and `.never` mean that there is none.
    ///   - label: A text for a person.
    ///   - comment: A remark that a person may read.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. No item was added then.
    public func add<Value: Encodable & Sendable>(
        _ value: Value, for key: String, expires: Keychain.Expiration? = nil, label: String? = nil,
        comment: String? = nil
    ) async throws(KeychainError) {
        try await inTask { keychain throws(KeychainError) in
            try keychain.add(value, for: key, expires: expires, label: label, comment: comment)
        }
    }

    /// Stores a value for a key that has one, without blocking the thread of the task.
    ///
    /// A write that has begun is finished even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - value: The value. `nil` removes the item.
    ///   - key: The item's key.
    ///   - expires: The moment from which the value is gone. `nil` leaves the present one.
    ///   - label: A text for a person. `nil` leaves the present one.
    ///   - comment: A remark that a person may read. `nil` leaves the present one.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. The former value is still there then.
    public func update<Value: Encodable & Sendable>(
        _ value: Value?, for key: String, expires: Keychain.Expiration? = nil, label: String? = nil,
        comment: String? = nil
    ) async throws(KeychainError) {
        try await inTask { keychain throws(KeychainError) in
            try keychain.update(value, for: key, expires: expires, label: label, comment: comment)
        }
    }

    /// Removes the item of a key without blocking the thread of the task.
    ///
    /// A removal that has begun is finished even if the task is cancelled.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: Whether there was an item.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`.
    @discardableResult
    public func remove(_ key: String) async throws(KeychainError) -> Bool {
        try await inTask { keychain throws(KeychainError) in try keychain.remove(key) }
    }

    /// Removes all items that this value stands for, without blocking the thread of the task.
    ///
    /// A removal that has begun is finished even if the task is cancelled.
    ///
    /// - Returns: The number of items that were removed.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. No item was removed then.
    @discardableResult
    public func removeAll() async throws(KeychainError) -> Int {
        try await inTask { keychain throws(KeychainError) in try keychain.removeAll() }
    }

    /// Changes the value of a key in one step, without blocking the thread of the task.
    ///
    /// `change` runs on a thread that may block, and may be called several times. A write that has begun is finished
    /// even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - key: The item's key.
    ///   - change: Changes the value, which is `nil` if no item is stored. The item is removed if the result is `nil`.
    /// - Throws: The errors of the blocking call, an error of `change`, and `.taskCancelled`. The former value is still
    ///   there then.
    public func modify<Value: Codable & Sendable>(
        _ type: Value.Type = Value.self, for key: String,
        _ change: @escaping @Sendable (inout Value?) throws(KeychainError) -> Void
    ) async throws(KeychainError) {
        try await inTask { keychain throws(KeychainError) in try keychain.modify(type, for: key, change) }
    }

    /// This form takes a closure that throws any error.
    @_disfavoredOverload
    public func modify<Value: Codable & Sendable>(
        _ type: Value.Type = Value.self, for key: String, _ change: @escaping @Sendable (inout Value?) throws -> Void
    ) async throws {
        try await inTask { keychain throws(KeychainError) in
            try keychain.attempts(type, for: key) { value in Result { try change(&value) } }
        }.get()
    }

    /// Stores another value for a key if the present one is the expected one, without blocking the thread of the task.
    ///
    /// A write that has begun is finished even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - old: The expected value. `nil` means that no item is stored.
    ///   - new: The new value. `nil` removes the item.
    /// - Returns: Whether the new value is stored.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`.
    public func compareAndSwap<Value: Codable & Equatable & Sendable>(
        _ key: String, from old: Value?, to new: Value?
    ) async throws(KeychainError) -> Bool {
        try await inTask { keychain throws(KeychainError) in try keychain.compareAndSwap(key, from: old, to: new) }
    }

    /// Makes several changes at once, without blocking the thread of the task.
    ///
    /// `body` runs on a thread that may block, and may be called several times. A transaction whose changes were sent
    /// is finished even if the task is cancelled.
    ///
    /// - Parameter body: Reads and changes the keychain through the transaction.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of the blocking call, an error of `body`, and `.taskCancelled`. No item was changed then.
    public func transaction<R: Sendable>(
        _ body: @escaping @Sendable (inout Keychain.Transaction) throws(KeychainError) -> R
    ) async throws(KeychainError) -> R {
        try await inTask { keychain throws(KeychainError) in try keychain.transaction(body) }
    }

    /// This form takes a closure that throws any error.
    @_disfavoredOverload
    public func transaction<R: Sendable>(
        _ body: @escaping @Sendable (inout Keychain.Transaction) throws -> R
    ) async throws -> R {
        try await inTask { keychain throws(KeychainError) in
            try keychain.attempts { changes in Result { try body(&changes) } }
        }.get()
    }

    /// Moves all items of another value to this one, without blocking the thread of the task.
    ///
    /// A move that has begun is finished even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - other: The value whose items are moved: both a service, or both a server.
    ///   - replacing: Whether an item here gives way to one with its key.
    /// - Returns: The number of items that were moved.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. No item was moved then.
    @discardableResult
    public func migrate(from other: Keychain, replacing: Bool = false) async throws(KeychainError) -> Int {
        try await inTask { keychain throws(KeychainError) in try keychain.migrate(from: other, replacing: replacing) }
    }
}
