public import KeychainModel

/// The credentials of several people or accounts: one `Codable` value for each name.
///
/// ```swift
/// struct Login: Codable { var password: String, apiKey: String }
/// let logins = CredentialStore<Login>(Keychain(service: "com.example.app.logins"))
/// try logins.save(Login(password: "s3cret", apiKey: "k"), for: "alice")
/// for name in try logins.names() { print(name) }
/// ```
public struct CredentialStore<Credentials: Codable & Sendable>: Sendable {
    /// Where they are. All keys of it are names.
    public let keychain: Keychain

    /// - Parameter keychain: One of its own, or with a ``Keychain/keyPrefix`` of its own.
    public init(_ keychain: Keychain) { self.keychain = keychain }

    /// Stores credentials, in the place of those that there are for the name.
    public func save(_ credentials: Credentials, for name: String) throws(KeychainError) {
        try keychain.set(credentials, for: name)
    }

    /// As the blocking call.
    public func save(_ credentials: Credentials, for name: String) async throws(KeychainError) {
        try await keychain.set(credentials, for: name)
    }

    /// The credentials of a name; nil: there are none.
    ///
    /// - Throws: as `Keychain.value(_:for:)`.
    public func credentials(for name: String) throws(KeychainError) -> Credentials? { try keychain.value(for: name) }

    /// As the blocking call.
    public func credentials(for name: String) async throws(KeychainError) -> Credentials? {
        try await keychain.value(for: name)
    }

    /// All names, sorted.
    public func names() throws(KeychainError) -> [String] { try keychain.keys().sorted() }

    /// As the blocking call.
    public func names() async throws(KeychainError) -> [String] { try await keychain.keys().sorted() }

    /// Removes the credentials of a name.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    public func remove(_ name: String) throws(KeychainError) -> Bool { try keychain.remove(name) }

    /// As the blocking call.
    @discardableResult
    public func remove(_ name: String) async throws(KeychainError) -> Bool { try await keychain.remove(name) }

    /// Removes the credentials of all names.
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func removeAll() throws(KeychainError) -> Int { try keychain.removeAll() }

    /// As the blocking call.
    @discardableResult
    public func removeAll() async throws(KeychainError) -> Int { try await keychain.removeAll() }
}
