internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel

extension Keychain {
    /// A change of the item of one key. It has no value: read the keychain for that.
    public struct Change: Sendable, Hashable {
        /// The kinds of changes: an item came, has another value or other attributes, or is gone.
        public enum Kind: Sendable, Hashable { case added, changed, removed }
        /// The kind of the change.
        public var kind: Kind
        /// The key whose item has changed, without the ``Keychain/keyPrefix``.
        public var key: String

        /// Makes a change, for tests of code that handles changes.
        ///
        /// - Parameters:
        ///   - kind: The kind of the change.
        ///   - key: The key whose item has changed.
        public init(kind: Kind, key: String) {
            self.kind = kind
            self.key = key
        }
    }

    /// A sequence of changes, which ends with an error if the items cannot be looked at any more.
    public struct Changes: AsyncSequence, Sendable {
        /// An element is one change.
        public typealias Element = Change
        /// The errors of ``Keychain/keys()``.
        public typealias Failure = KeychainError

        private let events: AsyncStream<Result<Change, KeychainError>>

        init(_ events: AsyncStream<Result<Change, KeychainError>>) { self.events = events }

        /// Makes an iterator. Two iterators share the changes between them, as with an `AsyncStream`: each change goes to
        /// one.
        public func makeAsyncIterator() -> Iterator { Iterator(events.makeAsyncIterator()) }

        /// An iterator over the changes of a keychain's items.
        public struct Iterator: AsyncIteratorProtocol {
            private var events: AsyncStream<Result<Change, KeychainError>>.Iterator

            fileprivate init(_ events: AsyncStream<Result<Change, KeychainError>>.Iterator) { self.events = events }

            /// Waits for the next change, on no particular actor.
            ///
            /// - Returns: `nil` if the task was cancelled, and after an error.
            /// - Throws: The reason why the items cannot be looked at, as of ``Keychain/changes``.
            public mutating func next() async throws(KeychainError) -> Change? { try await next(isolation: nil) }

            /// Waits for the next change, on the caller's actor.
            ///
            /// - Parameter actor: The actor that the call stays on.
            /// - Returns: `nil` if the task was cancelled, and after an error.
            /// - Throws: The reason why the items cannot be looked at, as of ``Keychain/changes``.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(KeychainError) -> Change? {
                try await events.next(isolation: actor)?.get()
            }
        }
    }

    /// The changes of this value's items from now on, by any program.
    ///
    /// ```swift
    /// for try await change in keychain.changes where change.kind == .removed {
    ///     signOut()
    /// }
    /// ```
    ///
    /// Several changes of one key in a row may be told as one. A change that is taken back within a moment may not be
    /// told at all. Items that ask a person are not told of. An item that expires is told of as removed, within a second or
    /// two.
    ///
    /// While the keychain is locked, or its daemon is started anew, the items cannot be looked at. Their changes are told
    /// afterwards; a sequence that is begun while locked tells of those from the unlock on. The sequence ends with an error, and never in silence, for every other reason: with
    /// `.missingEntitlement` for a group that is not the program's, and with `.notAvailable` for a keychain that could not
    /// be opened in the first place or was away for a minute.
    ///
    /// Each read of this property begins a sequence, which costs one thread for as long as it is in use, and one of the 64
    /// connections that a daemon has for a process. Each change in
    /// the keychain costs a look at all items of this value. Reading the property opens the keychain and looks at the
    /// items, which blocks the caller's thread.
    public var changes: Changes { changes(pause: .lockFeedPause) }

    /// - Parameter pause: How long after a look that failed comes the next one.
    package func changes(pause: Duration) -> Changes {
        let connection = connection
        let keychain = with { $0.ownConnection = connection }
        return Changes(LockFeed.stream(by: ItemFollower(keychain), pause: pause, as: { $0 }))
    }
}

/// Tells each change of a keychain's items.
final class ItemFollower: LockFollower, @unchecked Sendable {  // one thread has it
    /// How many looks in a row may find no keychain: a minute's. One that waited for a silent daemon counts for thirty.
    private static let mostFailures = 60

    private let keychain: Keychain
    /// `nil`: the keychain was not there at the last look.
    private var listener: (any ChangeListener)?
    /// The lock's epoch when the listener was made, where that is known without a request.
    private var epoch: UInt64?
    /// The items at the last look. `nil` means that the keychain has been locked from the beginning.
    private var known: [ExactKey: ItemVersion]?
    /// When the first of them expires, by the time of day.
    private var nextExpiry: Double?
    /// The lock's epoch before the last look, if that found the keychain locked; otherwise `nil`.
    private var lockedEpoch: UInt64?
    private var firstFailure: KeychainError?
    private var failures = 0

    init(_ keychain: Keychain) {
        self.keychain = keychain
        do throws(KeychainError) {
            // Before it looks: a change after that is told.
            try listen()
            known = try look()
        } catch {
            firstFailure = error
        }
    }

    func look(_ tell: (Result<Keychain.Change, KeychainError>) -> Void) throws(KeychainError) {
        if let firstFailure { throw firstFailure }
        guard try waitForChange() else { return }
        let found = try look()
        failures = 0
        guard let present = found else { return }
        defer { known = present }
        guard let known else { return }
        for (key, version) in present where known[key] != version {
            tell(.success(Keychain.Change(kind: known[key] == nil ? .added : .changed, key: key.text)))
        }
        for key in known.keys where present[key] == nil {
            tell(.success(Keychain.Change(kind: .removed, key: key.text)))
        }
    }

    /// A daemon that has ended comes back, as a rule. Any other failure would come again.
    func goesOn(
        after error: KeychainError, _ tell: (Result<Keychain.Change, KeychainError>) -> Void
    ) -> Bool {
        listener = nil
        failures += error.signal?.isOfWaiting == true ? 30 : 1
        if firstFailure == nil && error.code == .notAvailable && failures < Self.mostFailures { return true }
        tell(.failure(error))
        return false
    }

    /// Returns whether to look.
    private func waitForChange() throws(KeychainError) -> Bool {
        // Anew with each epoch, in which the store may have another host.
        guard let listener, keychain.connection.lockEpoch() == epoch else {
            try listen()
            return true
        }
        guard let epoch = lockedEpoch else {
            return try listener.waitForChange(timeout: .lockFeedPause) || hasExpiry
        }
        _ = try keychain.connection.waitForLockChange(since: epoch, timeout: .lockFeedPause)
        return true
    }

    private func listen() throws(KeychainError) {
        epoch = keychain.connection.lockEpoch()
        listener = try keychain.connection.listenForChanges()
    }

    /// Whether an item has expired, perhaps unnoticed.
    private var hasExpiry: Bool { nextExpiry.map { $0 <= Date().timeIntervalSinceReferenceDate } ?? false }

    /// nil: it is locked.
    private func look() throws(KeychainError) -> [ExactKey: ItemVersion]? {
        let epoch = try keychain.connection.lockStatus().epoch
        var query = try keychain.query(for: nil)
        query.authenticationUI = .skip
        do throws(KeychainError) {
            let items = try keychain.items(query, wantsSecrets: false)
            lockedEpoch = nil
            nextExpiry = items.compactMap(\.expires?.seconds).min()
            return Dictionary(
                items.compactMap { item in keychain.key(of: item).map { (ExactKey($0), ItemVersion(item)) } }
            ) {
                $1
            }
        } catch  where error.code == .interactionNotAllowed {
            lockedEpoch = epoch
            return nil
        }
    }

    func end() {}
}
