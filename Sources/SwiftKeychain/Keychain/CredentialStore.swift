public import KeychainModel

/// The credentials of several people or accounts: one `Codable` value for each name.
///
/// ```swift
/// struct Login: Codable { var password: String, apiKey: String }
/// let logins = CredentialStore<Login>(Keychain(service: "com.example.app.logins"))
/// try logins.save(Login(password: "s3cret", apiKey: "k"), for: "alice")
/// for name in try logins.names() { print(name) }
/// ```
///
/// It is a value that may be used by any thread and any task. Names are in the keychain's index as keyed digests, and
/// are encrypted with the item.
public struct CredentialStore<Credentials: Codable & Sendable>: Sendable {
    /// The place of the credentials. Each of its keys is a name.
    public let keychain: Keychain

    /// Makes a store in a keychain. It opens nothing.
    ///
    /// - Parameter keychain: A keychain with a service of its own, or with a ``Keychain/keyPrefix`` of its own. Other
    ///   items in it would appear as names.
    public init(_ keychain: Keychain) { self.keychain = keychain }

    /// Stores credentials, in the place of former ones for the name.
    ///
    /// - Parameters:
    ///   - credentials: The value, stored as one item.
    ///   - name: The name.
    /// - Throws: The errors of `Keychain.set(_:for:)`. The former credentials are still there then.
    public func save(_ credentials: Credentials, for name: String) throws(KeychainError) {
        try keychain.set(credentials, for: name)
    }

    /// Stores credentials without blocking the thread of the task. A write that has begun is finished even if it is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - credentials: The value, stored as one item.
    ///   - name: The name.
    /// - Throws: The errors of `Keychain.set(_:for:)`, and `.taskCancelled`.
    public func save(_ credentials: Credentials, for name: String) async throws(KeychainError) {
        try await keychain.set(credentials, for: name)
    }

    /// Reads the credentials of a name.
    ///
    /// - Parameter name: The name.
    /// - Returns: `nil` if there are none.
    /// - Throws: The errors of `Keychain.value(_:for:)`: `.interactionNotAllowed` while locked, `.decode` for a value
    ///   of another type.
    public func credentials(for name: String) throws(KeychainError) -> Credentials? { try keychain.value(for: name) }

    /// Reads the credentials of a name without blocking the thread of the task.
    ///
    /// Cancelling the task takes back a question that a person is being asked, and the call throws `.taskCancelled`.
    ///
    /// - Parameter name: The name.
    /// - Returns: `nil` if there are none.
    /// - Throws: The errors of `Keychain.value(_:for:)`, and `.taskCancelled`.
    public func credentials(for name: String) async throws(KeychainError) -> Credentials? {
        try await keychain.value(for: name)
    }

    /// Finds all names, sorted.
    ///
    /// - Throws: The errors of `Keychain.keys()`: `.interactionNotAllowed` if one of the items is locked.
    public func names() throws(KeychainError) -> [String] { try keychain.keys().sorted() }

    /// Finds all names, sorted, without blocking the thread of the task.
    ///
    /// - Throws: The errors of `Keychain.keys()`, and `.taskCancelled` if the task is cancelled.
    public func names() async throws(KeychainError) -> [String] { try await keychain.keys().sorted() }

    /// Removes the credentials of a name, also while they are locked.
    ///
    /// - Parameter name: The name.
    /// - Returns: Whether there were any.
    /// - Throws: The errors of `Keychain.remove(_:)`.
    @discardableResult
    public func remove(_ name: String) throws(KeychainError) -> Bool { try keychain.remove(name) }

    /// Removes the credentials of a name without blocking the thread of the task.
    ///
    /// - Parameter name: The name.
    /// - Returns: Whether there were any.
    /// - Throws: The errors of `Keychain.remove(_:)`, and `.taskCancelled` if the task is cancelled before the call
    ///   begins.
    @discardableResult
    public func remove(_ name: String) async throws(KeychainError) -> Bool { try await keychain.remove(name) }

    /// Removes the credentials of all names: all of them, or none.
    ///
    /// - Returns: The number of names that had credentials.
    /// - Throws: The errors of `Keychain.removeAll()`.
    @discardableResult
    public func removeAll() throws(KeychainError) -> Int { try keychain.removeAll() }

    /// Removes the credentials of all names, without blocking the thread of the task.
    ///
    /// - Returns: The number of names that had credentials.
    /// - Throws: The errors of `Keychain.removeAll()`, and `.taskCancelled` if the task is cancelled before the call
    ///   begins.
    @discardableResult
    public func removeAll() async throws(KeychainError) -> Int { try await keychain.removeAll() }
}
