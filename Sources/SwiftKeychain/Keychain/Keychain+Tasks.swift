public import Foundation
public import KeychainModel

// The same calls for tasks. They wait on threads of their own kind, never on one of those that run tasks.
//
// A task that is cancelled while a person is asked, or before the call has begun, gets `.userCancelled`. Otherwise the call ends
// as it would have: whether it was carried out must be known.

extension Keychain {
    /// Runs a call on a thread that may block.
    func inTask<R: Sendable, E: Error>(_ body: @escaping @Sendable (Keychain) throws(E) -> R) async throws(E) -> R {
        let cancellation = Cancellation()
        let keychain = with { $0.cancellation = cancellation }
        let result = await withTaskCancellationHandler {
            await BlockingCalls.run { Result { () throws(E) in try body(keychain) } }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    /// As the blocking call.
    public func string(for key: String) async throws(KeychainError) -> String? {
        try await inTask { keychain throws(KeychainError) in try keychain.string(for: key) }
    }

    /// As the blocking call.
    public func data(for key: String) async throws(KeychainError) -> Data? {
        try await inTask { keychain throws(KeychainError) in try keychain.data(for: key) }
    }

    /// As the blocking call.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, for key: String
    ) async throws(KeychainError) -> Value? {
        try await inTask { keychain throws(KeychainError) in try keychain.value(type, for: key) }
    }

    /// As the blocking call.
    public func secret(for key: String) async throws(KeychainError) -> Secret? {
        let bytes = try await inTask { keychain throws(KeychainError) in
            try keychain.item(for: key)?.value
        }
        guard let bytes else { return nil }
        return Secret(bytes)
    }

    /// As the blocking call.
    public func withSecret<R: Sendable>(
        for key: String, _ body: @escaping @Sendable (UnsafeRawBufferPointer) throws -> R
    ) async throws -> R? {
        try await inTask { keychain in try keychain.withSecret(for: key, body) }
    }

    /// As the blocking call.
    public func contains(_ key: String) async throws(KeychainError) -> Bool {
        try await inTask { keychain throws(KeychainError) in try keychain.contains(key) }
    }

    /// As the blocking call.
    public func keys() async throws(KeychainError) -> [String] {
        try await inTask { keychain throws(KeychainError) in try keychain.keys() }
    }

    /// As the blocking call.
    public func count() async throws(KeychainError) -> Int {
        try await inTask { keychain throws(KeychainError) in try keychain.count() }
    }

    /// As the blocking call.
    public func set<Value: Encodable & Sendable>(_ value: Value, for key: String) async throws(KeychainError) {
        try await inTask { keychain throws(KeychainError) in try keychain.set(value, for: key) }
    }

    /// As the blocking call.
    public func set(_ secret: borrowing Secret, for key: String) async throws(KeychainError) {
        let bytes = secret.bytes
        try await inTask { keychain throws(KeychainError) in try keychain.put(bytes, for: key) }
    }

    /// A value that may be nil says nothing about what is to become of the key: unwrap it, or call ``remove(_:)``.
    @available(*, unavailable, message: "unwrap the value, or call remove(_:)")
    public func set<Value: Encodable & Sendable>(_ value: Value?, for key: String) async throws(KeychainError) {
        fatalError("unavailable")
    }

    /// As the blocking call.
    public func add<Value: Encodable & Sendable>(_ value: Value, for key: String) async throws(KeychainError) {
        try await inTask { keychain throws(KeychainError) in try keychain.add(value, for: key) }
    }

    /// As the blocking call.
    public func update<Value: Encodable & Sendable>(_ value: Value, for key: String) async throws(KeychainError) {
        try await inTask { keychain throws(KeychainError) in try keychain.update(value, for: key) }
    }

    /// As the blocking call.
    @discardableResult
    public func remove(_ key: String) async throws(KeychainError) -> Bool {
        try await inTask { keychain throws(KeychainError) in try keychain.remove(key) }
    }

    /// As the blocking call.
    @discardableResult
    public func removeAll() async throws(KeychainError) -> Int {
        try await inTask { keychain throws(KeychainError) in try keychain.removeAll() }
    }

    /// As the blocking call.
    public func update<Value: Codable & Sendable>(
        _ type: Value.Type = Value.self, for key: String, _ change: @escaping @Sendable (inout Value?) throws -> Void
    ) async throws {
        try await inTask { keychain in try keychain.update(type, for: key, change) }
    }

    /// As the blocking call.
    public func compareAndSwap<Value: Codable & Equatable & Sendable>(
        _ key: String, from old: Value?, to new: Value?
    ) async throws(KeychainError) -> Bool {
        try await inTask { keychain throws(KeychainError) in try keychain.compareAndSwap(key, from: old, to: new) }
    }

    /// As the blocking call. The closure runs on a thread that may block.
    public func transaction<R: Sendable>(
        _ body: @escaping @Sendable (inout Transaction) throws -> R
    ) async throws -> R {
        try await inTask { keychain in try keychain.transaction(body) }
    }

    /// As the blocking call.
    @discardableResult
    public func migrate(from other: Keychain, replacing: Bool = false) async throws(KeychainError) -> Int {
        try await inTask { keychain throws(KeychainError) in try keychain.migrate(from: other, replacing: replacing) }
    }
}
