public import Foundation
public import KeychainModel
internal import Synchronization

/// The tokens of a session: an access token, and the refresh token that brings the next one. Both are one item, so that
/// nobody ever finds one without the other.
///
/// ```swift
/// let tokens = TokenStore(Keychain(service: "com.example.app"))
/// try tokens.save(.init(accessToken: "a", refreshToken: "r", expires: .now + 3600))
/// let accessToken = try await tokens.accessToken { old in
///     try await server.refresh(old.refreshToken)  // at most one call at a time
/// }
/// ```
///
/// It may be used by any thread and any task. One object for each session and program: only callers of the same object wait
/// for each other's refresh.
public final class TokenStore: Sendable {
    /// What a server gives at a sign-in.
    public struct Tokens: Sendable, Hashable, Codable {
        /// Shown to the server with each request.
        public var accessToken: String
        /// nil: there is none, and whoever uses the program signs in anew.
        public var refreshToken: String?
        /// When the access token ceases to be valid; nil: it is not known.
        public var expires: Date?

        /// - Parameters:
        ///   - accessToken: Shown to the server with each request.
        ///   - refreshToken: Brings the next access token.
        ///   - expires: When the access token ceases to be valid.
        public init(accessToken: String, refreshToken: String? = nil, expires: Date? = nil) {
            self.accessToken = accessToken
            self.refreshToken = refreshToken
            self.expires = expires
        }
    }

    /// Where the tokens are.
    public let keychain: Keychain
    /// The item's key.
    public let key: String
    private let now: @Sendable () -> Date
    private let refresh = Mutex<(number: Int, task: Task<Tokens, any Error>)?>(nil)
    private let lastNumber = Atomic(0)

    /// - Parameters:
    ///   - keychain: Where the tokens are.
    ///   - key: Another one for each session.
    ///   - now: The time of day, for tests.
    public init(
        _ keychain: Keychain, key: String = "tokens", now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.keychain = keychain
        self.key = key
        self.now = now
    }

    /// The tokens, expired or not; nil: there are none.
    ///
    /// - Throws: as `Keychain.value(_:for:)`.
    public func tokens() throws(KeychainError) -> Tokens? { try keychain.value(for: key) }

    /// As the blocking call.
    public func tokens() async throws(KeychainError) -> Tokens? { try await keychain.value(for: key) }

    /// Whether there is an access token that has not expired.
    public func hasAccessToken() throws(KeychainError) -> Bool { isValid(try tokens()) }

    /// As the blocking call.
    public func hasAccessToken() async throws(KeychainError) -> Bool { isValid(try await tokens()) }

    /// Stores the tokens of a sign-in, in the place of those that are there.
    public func save(_ tokens: Tokens) throws(KeychainError) { try keychain.set(tokens, for: key) }

    /// As the blocking call.
    public func save(_ tokens: Tokens) async throws(KeychainError) { try await keychain.set(tokens, for: key) }

    /// Removes both tokens.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    public func remove() throws(KeychainError) -> Bool { try keychain.remove(key) }

    /// As the blocking call.
    @discardableResult
    public func remove() async throws(KeychainError) -> Bool { try await keychain.remove(key) }

    private func isValid(_ tokens: Tokens?) -> Bool {
        guard let tokens else { return false }
        return tokens.expires.map { $0 > now() } ?? true
    }

    // MARK: Refreshing

    /// An access token that is valid for some time, refreshed if it is not.
    ///
    /// Of several callers one refreshes, and the others wait for what it gets. If another program has stored other tokens
    /// meanwhile, those are taken, also if the refresh failed: many servers take a refresh token only once. A caller that is
    /// cancelled does not end the refresh, for which others may wait.
    ///
    /// - Parameters:
    ///   - time: In seconds. A token that expires within this time is refreshed.
    ///   - refresh: Asks the server for new tokens, and is given those that there are.
    /// - Returns: nil: there are no tokens. Sign in.
    /// - Throws: a ``KeychainError``, or what `refresh` throws.
    public func accessToken(
        validFor time: TimeInterval = 30, refresh: @escaping @Sendable (Tokens) async throws -> Tokens
    ) async throws -> String? {
        guard let present = try await tokens() else { return nil }
        guard let expires = present.expires, expires <= now() + time else { return present.accessToken }
        return try await refreshed(present, refresh).accessToken
    }

    private func refreshed(
        _ old: Tokens, _ refresh: @escaping @Sendable (Tokens) async throws -> Tokens
    ) async throws -> Tokens {
        let (number, task) = self.refresh.withLock { present -> (Int, Task<Tokens, any Error>) in
            if let present { return present }
            let number = lastNumber.add(1, ordering: .relaxed).newValue
            // Not a child of the caller: others wait for it too.
            let new = (number, Task { try await renew(old, refresh) })
            present = new
            return new
        }
        defer { self.refresh.withLock { if $0?.number == number { $0 = nil } } }
        return try await task.value
    }

    private func renew(_ old: Tokens, _ refresh: @Sendable (Tokens) async throws -> Tokens) async throws -> Tokens {
        // The one before may have refreshed them since this caller looked.
        if let present = try await tokens(), present != old { return present }
        let result: Result<Tokens, any Error>
        do { result = .success(try await refresh(old)) } catch { result = .failure(error) }
        if case .success(let new) = result, try await keychain.compareAndSwap(key, from: old, to: new) { return new }
        if let present = try await tokens(), present != old { return present }
        // Removed meanwhile, at a sign-out: what came from the server is not stored.
        return try result.get()
    }
}
