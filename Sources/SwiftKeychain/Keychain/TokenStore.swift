public import FoundationEssentials
internal import KeychainClient
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
/// any task.
///
/// Several objects, and several programs, may share a session: one of all callers asks the server, and the others wait for
/// its tokens. A program that is killed meanwhile delays the others by some seconds.
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
    /// The refresh that is under way.
    private let refresh = Mutex<Task<Tokens?, any Error>?>(nil)
    private let leaseLength: Duration
    private let pause: @Sendable (Duration) async throws -> Void
    /// Tokens that a server gave for others, and that could not be stored. They go with the process.
    private let unstored = Mutex<(old: Tokens, new: Tokens, attempt: Attempt)?>(nil)

    /// Makes a store for the tokens of one session. It opens nothing.
    ///
    /// - Parameters:
    ///   - keychain: The keychain of the tokens.
    ///   - key: The item's key; another one for each session.
    ///   - lease: How long a program that was killed while it asked the server keeps the others waiting: at least a
    ///     millisecond, and the same in all programs.
    ///   - now: The time of day, which tests replace.
    public convenience init(
        _ keychain: Keychain, key: String = "tokens", lease: Duration = .seconds(10),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(keychain, key: key, lease: lease, now: now) { try await Task.sleep(for: $0) }
    }

    /// - Parameter pause: Waits that long: before a look at another program's lease, and before the own one is renewed.
    package init(
        _ keychain: Keychain, key: String = "tokens", lease: Duration, now: @escaping @Sendable () -> Date,
        pause: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.keychain = keychain
        self.key = key
        leaseLength = lease
        self.now = now
        self.pause = pause
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

    /// Removes both tokens, also while they are locked. A refresh that is under way in any program does not store its
    /// result then.
    ///
    /// In the closure of ``accessToken(validFor:refresh:)`` of this object, in the task that runs it, the call removes the
    /// tokens that the closure was given, and no others that are stored meanwhile. They must not be locked.
    ///
    /// - Returns: Whether there were any.
    /// - Throws: The errors of `Keychain.remove(_:)`.
    @discardableResult
    public func remove() throws(KeychainError) -> Bool { try remove(from: keychain) }

    /// Removes both tokens without blocking the thread of the task.
    ///
    /// - Returns: Whether there were any.
    /// - Throws: The errors of `Keychain.remove(_:)`, and `.taskCancelled` if the task is cancelled before the call
    ///   begins.
    @discardableResult
    public func remove() async throws(KeychainError) -> Bool {
        try await keychain.inTask { [self] keychain throws(KeychainError) in try remove(from: keychain) }
    }

    private func isValid(_ tokens: Tokens?) -> Bool {
        guard let tokens else { return false }
        return tokens.expires.map { $0 > now() } ?? true
    }

    // MARK: Refreshing

    /// Gives an access token that is valid for some time, and refreshes it if it is not.
    ///
    /// ```swift
    /// let token = try await tokens.accessToken(validFor: .seconds(60)) { old in try await server.refresh(old.refreshToken) }
    /// ```
    ///
    /// One of several callers, in all programs, refreshes, and the others wait for its result: many servers accept a refresh
    /// token only once. If other tokens have been stored meanwhile, these are taken, even if the refresh failed. A caller
    /// that is cancelled ends at once, and the refresh goes on for the others. Other programs do not wait for a refresh
    /// that takes longer than twelve times the `lease`.
    ///
    /// If the server rejects the refresh token, call `remove()` in the closure before it throws. Then tokens that the
    /// server gave to another program for the same refresh token are not lost. A call of this function in the closure
    /// throws `.parameter` if it would wait for the refresh.
    ///
    /// - Parameters:
    ///   - time: The time for which the token must be valid. A token without a date counts as valid.
    ///   - refresh: Asks the server for new tokens. It gets the present ones and runs in a task of its own.
    /// - Returns: `nil` if there are no tokens, so that the user has to sign in. It is `nil` too if they were removed while
    ///   the server was asked.
    /// - Throws: A ``KeychainError``, or an error of `refresh`. The former tokens are still there then. `.taskCancelled` if
    ///   the caller is cancelled.
    public func accessToken(
        validFor time: Duration = .seconds(30), refresh: @escaping @Sendable (Tokens) async throws -> Tokens
    ) async throws -> String? {
        guard let present = try await present() else { return nil }
        guard let expires = present.expires, expires <= now() + time / .seconds(1) else { return present.accessToken }
        guard let fresh = try await refreshed(present, refresh) else { return nil }
        // Tokens of another caller's refresh, or of another program, may have expired themselves.
        if isValid(fresh) { return fresh.accessToken }
        return try await refreshed(fresh, refresh)?.accessToken
    }

    private func refreshed(
        _ old: Tokens, _ refresh: @escaping @Sendable (Tokens) async throws -> Tokens
    ) async throws -> Tokens? {
        if ownAttempt != nil {
            throw KeychainError(
                .parameter, message: "the closure of a refresh asked for an access token, and would wait for itself")
        }
        let task = self.refresh.withLock { present in
            // The task is not a child of the caller, since others wait for it too.
            let task =
                present
                ?? Task {
                    defer { self.refresh.withLock { $0 = nil } }
                    return try await renew(old, refresh)
                }
            present = task
            return task
        }
        let (results, continuation) = AsyncStream.makeStream(of: Result<Tokens?, any Error>.self)
        Task { continuation.yield(await task.result) }
        for await result in results { return try result.get() }
        // The stream ends early for a caller that is cancelled. Waiting for the task itself would not.
        throw KeychainError.cancelledCall
    }

    /// The stored tokens, after those have taken their place that a server gave and that could not be stored.
    private func present() async throws(KeychainError) -> Tokens? {
        if let late = unstored.withLock({ $0 }) {
            let isStored = try await replace(late.old, by: late.new, late.attempt)
            unstored.withLock { if $0?.attempt === late.attempt { $0 = nil } }
            if isStored { return late.new }
        }
        return try await tokens()
    }

    private func renew(_ old: Tokens, _ refresh: @Sendable (Tokens) async throws -> Tokens) async throws -> Tokens? {
        let lease = RefreshLease(leases: markers("refresh"), key: key, length: leaseLength, pause: pause)
        // Another refresh may have stored new tokens since this caller looked.
        guard try await lease.take(while: { try await present() == old }) else { return try await tokens() }
        return try await lease.hold { try await renew(old, as: lease.holder, refresh) }
    }

    /// nil: they were removed, by a sign-out. The server's answer is not stored then.
    private func renew(
        _ old: Tokens, as holder: String, _ refresh: @Sendable (Tokens) async throws -> Tokens
    ) async throws -> Tokens? {
        let stored = try await keychain.inTask { [key] keychain throws(KeychainError) -> (Tokens, ItemVersion)? in
            guard let item = try keychain.item(for: key) else { return nil }
            return (try keychain.coding.value(Tokens.self, of: item.value, for: key), ItemVersion(item))
        }
        guard let (present, version) = stored, present == old else { return stored?.0 }
        let attempt = Attempt(store: self, version: version, holder: holder)
        let result: Result<Tokens, any Error>
        do {
            result = .success(try await Self.$attempt.withValue(attempt) { try await refresh(old) })
        } catch {
            result = .failure(error)
        }
        attempt.isOver.store(true, ordering: .releasing)
        if case .success(let new) = result {
            do throws(KeychainError) {
                if try await replace(old, by: new, attempt) { return new }
            } catch {
                // The keychain was locked meanwhile, perhaps. A server may accept a refresh token only once.
                unstored.withLock { $0 = (old, new, attempt) }
                throw error
            }
        }
        guard let present = try await tokens() else { return nil }
        return present == old ? try result.get() : present
    }

    /// - Returns: false: other tokens are stored, or none since a sign-out.
    private func replace(_ old: Tokens, by new: Tokens, _ attempt: Attempt) async throws(KeychainError) -> Bool {
        // Another program may change the item and leave the tokens, which is no reason to lose the new ones.
        for _ in 0..<Connection.mostAttempts {
            if try await keychain.compareAndSwap(key, from: old, to: new) { return true }
            if try await replaceRejected(attempt, by: new) { return true }
            if try await tokens() != old { return false }
        }
        throw .changedAllTheTime
    }

    // MARK: Sign-outs and rejections

    /// A refresh token that is being shown to the server.
    private final class Attempt: Sendable {
        let store: TokenStore
        /// The item that it was read from.
        let version: ItemVersion
        let holder: String
        /// Work that the closure has begun and left behind does not belong to the refresh.
        let isOver = Atomic(false)

        init(store: TokenStore, version: ItemVersion, holder: String) {
            self.store = store
            self.version = version
            self.holder = holder
        }

        /// The mark in the place of tokens that the server has rejected.
        var rejection: String { "\(version.identifier) \(version.modified) \(holder)" }

        /// Whether a mark says that the server has rejected these tokens when another program showed them.
        func isRejectedElsewhere(by rejection: String) -> Bool {
            rejection != self.rejection && rejection.hasPrefix("\(version.identifier) \(version.modified) ")
        }
    }
    /// The refresh that its closure belongs to.
    @TaskLocal private static var attempt: Attempt?

    /// The refresh whose closure makes this call.
    private var ownAttempt: Attempt? {
        guard let attempt = Self.attempt, attempt.store === self, !attempt.isOver.load(ordering: .acquiring) else {
            return nil
        }
        return attempt
    }

    /// The time in which a program may come with new tokens after another program saw the former ones rejected.
    private static let rejectionLifetime = Keychain.Remarks(.after(hours: 1))

    private func remove(from keychain: Keychain) throws(KeychainError) -> Bool {
        let rejections = markers("rejected")
        guard let attempt = ownAttempt else {
            // No refresh that comes late may take the sign-out for a rejection. Twice: one may have been on its way.
            var isRemoved = false
            for _ in 0..<2 {
                try rejections.remove(key)
                isRemoved = try keychain.remove(key) || isRemoved
            }
            return isRemoved
        }
        let (query, mark) = (try keychain.query(for: key), SecretBytes(Data(attempt.rejection.utf8)))
        func reject(_ remarks: Keychain.Remarks) throws(KeychainError) -> Bool {
            try keychain.commit(
                TransactionRequest(
                    seen: [SeenItems(query, versions: [attempt.version])],
                    steps: [.delete(query), .put(try rejections.addRequest(mark, for: key, remarks))]))
        }
        do throws(KeychainError) {
            return try reject(Self.rejectionLifetime)
        } catch  where error.code == .parameter {
            // A clock that is behind a moment at which the keychain saw something expire. The next mark replaces this one.
            return try reject(Keychain.Remarks())
        }
    }

    /// Stores the server's new tokens in place of tokens that are gone because it rejected them when another program
    /// showed them too.
    private func replaceRejected(_ attempt: Attempt, by new: Tokens) async throws(KeychainError) -> Bool {
        try await keychain.inTask { [key, rejections = markers("rejected")] keychain throws(KeychainError) in
            guard let mark = try rejections.item(for: key) else { return false }
            // Another program may have stored any bytes.
            let rejection = mark.value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            guard attempt.isRejectedElsewhere(by: rejection) else { return false }
            let (query, rejected) = (try keychain.query(for: key), try rejections.query(for: key))
            guard let secret = try keychain.coding.secret(of: new, for: key) else { return false }
            return try keychain.commit(
                TransactionRequest(
                    seen: [SeenItems(query, versions: []), SeenItems(rejected, versions: [ItemVersion(mark)])],
                    steps: [.put(try keychain.addRequest(secret, for: key, .init())), .delete(rejected)]))
        }
    }

    /// A keychain beside that of the tokens, for marks that programs leave each other. It has no secrets, and no lock.
    ///
    /// The service is another one: a mark that goes would be told as a change of the tokens' keychain, and be found
    /// among its keys.
    private func markers(_ name: String) -> Keychain {
        keychain.with {
            switch $0.scope {
            case .service(let service): $0.scope = .service("\(service).\(name)")
            case .server(var server):
                server.path = "\(server.path ?? "").\(name)"
                $0.scope = .server(server)
            case .nameless: break
            }
            $0.accessControl = Keychain.AccessControl(.alwaysThisDeviceOnly)
            $0.isSynchronizable = false
            $0.context = nil
        }
    }
}
