public import Foundation
public import KeychainModel
internal import Synchronization

/// The tokens of a session: an access token, and the refresh token that brings the next one.
///
/// ```swift
/// let tokens = TokenStore(Keychain(service: "com.example.app"))
/// try tokens.save(.init(accessToken: "a", refreshToken: "r", expires: .now + 3600))
/// let accessToken = try await tokens.accessToken { old in
///     try await server.refresh(old.refreshToken)  // at most one call at a time
/// }
/// ```
///
/// Both tokens are one item, so no program ever finds one without the other. The object may be used by any thread and
/// any task. Make one object for each session: only callers of one object wait for each other's refresh.
public final class TokenStore: Sendable {
    /// The tokens that a server gives at a sign-in. They are stored as JSON, unless the keychain has another coding.
    public struct Tokens: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
        /// The token that the server is shown with each request.
        public var accessToken: String
        /// The token that brings the next access token. `nil` means that there is none, and that the user has to sign
        /// in again.
        public var refreshToken: String?
        /// The moment from which the access token is not valid. `nil` means that it is not known, and the token counts
        /// as valid.
        public var expires: Date?

        /// Makes the tokens of a sign-in.
        ///
        /// - Parameters:
        ///   - accessToken: The token that the server is shown with each request.
        ///   - refreshToken: The token that brings the next access token.
        ///   - expires: The moment from which the access token is not valid.
        public init(accessToken: String, refreshToken: String? = nil, expires: Date? = nil) {
            self.accessToken = accessToken
            self.refreshToken = refreshToken
            self.expires = expires
        }

        /// The moment at which the access token ceases to be valid, and no token.
        public var description: String { "Tokens(expires: \(expires.map { "\($0)" } ?? "unknown"))" }
        /// A mirror without the tokens, so that `dump` and a debugger's log do not show them.
        public var customMirror: Mirror { Mirror(self, children: ["expires": expires as Any]) }
    }

    /// The keychain of the tokens.
    public let keychain: Keychain
    /// The key of the item that has both tokens.
    public let key: String
    private let now: @Sendable () -> Date
    private let refresh = Mutex<(number: Int, task: Task<Tokens?, any Error>)?>(nil)
    private let lastNumber = Atomic(0)
    /// Tokens that a server gave for others, and that could not be stored. They go with the process.
    private let unstored = Mutex<(old: Tokens, new: Tokens)?>(nil)

    /// Makes a store for the tokens of one session. It opens nothing.
    ///
    /// - Parameters:
    ///   - keychain: The keychain of the tokens.
    ///   - key: The item's key; another one for each session.
    ///   - now: The time of day, which tests replace.
    public init(
        _ keychain: Keychain, key: String = "tokens", now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.keychain = keychain
        self.key = key
        self.now = now
    }

    /// Reads the tokens, whether they have expired or not.
    ///
    /// - Returns: `nil` if there are none.
    /// - Throws: The errors of `Keychain.value(_:for:)`: `.interactionNotAllowed` while the keychain is locked.
    public func tokens() throws(KeychainError) -> Tokens? { try keychain.value(for: key) }

    /// Reads the tokens without blocking the thread of the task.
    ///
    /// Cancelling the task takes back a question that a person is being asked, and the call throws `.taskCancelled`.
    ///
    /// - Returns: `nil` if there are none.
    /// - Throws: The errors of `Keychain.value(_:for:)`, and `.taskCancelled`.
    public func tokens() async throws(KeychainError) -> Tokens? { try await keychain.value(for: key) }

    /// Tells whether there is an access token that has not expired by this machine's clock.
    ///
    /// - Throws: The errors of `Keychain.value(_:for:)`: a locked keychain does not count as "no token".
    public func hasAccessToken() throws(KeychainError) -> Bool { isValid(try tokens()) }

    /// Tells whether there is a valid access token, without blocking the thread of the task.
    ///
    /// - Throws: The errors of `Keychain.value(_:for:)`, and `.taskCancelled` if the task is cancelled.
    public func hasAccessToken() async throws(KeychainError) -> Bool { isValid(try await tokens()) }

    /// Stores the tokens of a sign-in, in the place of former ones.
    ///
    /// - Parameter tokens: The tokens.
    /// - Throws: The errors of `Keychain.set(_:for:)`. The former tokens are still there then.
    public func save(_ tokens: Tokens) throws(KeychainError) { try keychain.set(tokens, for: key) }

    /// Stores the tokens of a sign-in without blocking the thread of the task.
    ///
    /// A write that has begun is finished even if the task is cancelled.
    ///
    /// - Parameter tokens: The tokens.
    /// - Throws: The errors of `Keychain.set(_:for:)`, and `.taskCancelled`. The former tokens are still there then.
    public func save(_ tokens: Tokens) async throws(KeychainError) { try await keychain.set(tokens, for: key) }

    /// Removes both tokens, also while they are locked. A refresh that is going on does not store its result then.
    ///
    /// - Returns: Whether there were any.
    /// - Throws: The errors of `Keychain.remove(_:)`.
    @discardableResult
    public func remove() throws(KeychainError) -> Bool { try keychain.remove(key) }

    /// Removes both tokens without blocking the thread of the task.
    ///
    /// - Returns: Whether there were any.
    /// - Throws: The errors of `Keychain.remove(_:)`, and `.taskCancelled` if the task is cancelled before the call
    ///   begins.
    @discardableResult
    public func remove() async throws(KeychainError) -> Bool { try await keychain.remove(key) }

    private func isValid(_ tokens: Tokens?) -> Bool {
        guard let tokens else { return false }
        return tokens.expires.map { $0 > now() } ?? true
    }

    // MARK: Refreshing

    /// Gives an access token that is valid for some time, and refreshes it if it is not.
    ///
    /// ```swift
    /// let token = try await tokens.accessToken(validFor: 60) { old in try await server.refresh(old.refreshToken) }
    /// ```
    ///
    /// One of several callers refreshes, and the others wait for its result. If another program has stored other tokens
    /// meanwhile, these are taken, even if the refresh failed: many servers accept a refresh token only once.
    /// Cancelling a caller does not end the refresh, which others may wait for.
    ///
    /// - Parameters:
    ///   - time: The time in seconds for which the token must be valid. A token without a date counts as valid.
    ///   - refresh: Asks the server for new tokens. It gets the present ones and runs in a task of its own.
    /// - Returns: `nil` if there are no tokens, so that the user has to sign in. It is `nil` too if they were removed while
    ///   the server was asked.
    /// - Throws: A ``KeychainError``, or an error of `refresh`. The former tokens are still there then.
    public func accessToken(
        validFor time: TimeInterval = 30, refresh: @escaping @Sendable (Tokens) async throws -> Tokens
    ) async throws -> String? {
        guard let present = try await tokens() else { return nil }
        guard let expires = present.expires, expires <= now() + time else { return present.accessToken }
        guard let fresh = try await refreshed(present, refresh) else { return nil }
        // Tokens of another caller's refresh, or of another program, may have expired themselves.
        if isValid(fresh) { return fresh.accessToken }
        return try await refreshed(fresh, refresh)?.accessToken
    }

    private func refreshed(
        _ old: Tokens, _ refresh: @escaping @Sendable (Tokens) async throws -> Tokens
    ) async throws -> Tokens? {
        let (number, task) = self.refresh.withLock { present -> (Int, Task<Tokens?, any Error>) in
            if let present { return present }
            let number = lastNumber.add(1, ordering: .relaxed).newValue
            // The task is not a child of the caller, since others wait for it too.
            let new = (number, Task { try await renew(old, refresh) })
            present = new
            return new
        }
        defer { self.refresh.withLock { if $0?.number == number { $0 = nil } } }
        return try await task.value
    }

    /// The answer of the server, or the one that it gave to the same tokens before and that could not be stored.
    private func answer(
        to old: Tokens, _ refresh: @Sendable (Tokens) async throws -> Tokens
    ) async throws -> Tokens {
        let former = unstored.withLock { unstored in
            defer { unstored = nil }
            return unstored
        }
        if let former, former.old == old { return former.new }
        return try await refresh(old)
    }

    /// nil: they were removed, by a sign-out. The server's answer is not stored then.
    private func renew(_ old: Tokens, _ refresh: @Sendable (Tokens) async throws -> Tokens) async throws -> Tokens? {
        // An earlier refresh may have stored new tokens since this caller looked.
        guard let present = try await tokens() else { return nil }
        if present != old { return present }
        let result: Result<Tokens, any Error>
        do { result = .success(try await answer(to: old, refresh)) } catch { result = .failure(error) }
        if case .success(let new) = result {
            let isStored: Bool
            do throws(KeychainError) {
                isStored = try await keychain.compareAndSwap(key, from: old, to: new)
            } catch {
                // The keychain was locked meanwhile, perhaps. A server may accept a refresh token only once.
                unstored.withLock { $0 = (old, new) }
                throw error
            }
            if isStored { return new }
        }
        guard let present = try await tokens() else { return nil }
        return present == old ? try result.get() : present
    }
}
