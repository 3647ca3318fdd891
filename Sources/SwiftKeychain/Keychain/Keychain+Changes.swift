internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import Synchronization

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

    /// The changes of this value's items from now on, by any program.
    ///
    /// ```swift
    /// for await change in keychain.changes where change.kind == .removed {
    ///     signOut()
    /// }
    /// ```
    ///
    /// Several changes of one key in a row may be told as one. A change that is taken back within a moment may not be
    /// told at all. Items that ask a person are not told of.
    ///
    /// While the keychain is locked the items cannot be looked at. Their changes are told after the unlock.
    ///
    /// Each read of this property begins a stream, which costs one thread for as long as it is in use. Each change in
    /// the keychain costs a look at all items of this value. An item that expires is told of as removed, within a second or
    /// two. Reading the property opens the keychain and looks at the items, which blocks the caller's thread. The stream ends when the keychain cannot be looked at any
    /// more, and at once if it never could be.
    public var changes: AsyncStream<Change> {
        let connection = connection
        let keychain = with { $0.ownConnection = connection }
        return LockFeed.stream(by: { () throws(KeychainError) in try ItemFollower(keychain) }, as: { $0 })
    }
}

/// Tells each change of a keychain's items.
final class ItemFollower: LockFollower, @unchecked Sendable {  // one thread has it
    private let keychain: Keychain
    private let listener: any ChangeListener
    /// The items at the last look. `nil` means that the keychain has been locked from the beginning.
    private var known: [ExactKey: ItemVersion]?
    /// When the first of them expires, by the time of day.
    private var nextExpiry: Double?
    /// The lock's epoch before the last look, if that found the keychain locked; otherwise `nil`.
    private var lockedEpoch: UInt64?

    init(_ keychain: Keychain) throws(KeychainError) {
        self.keychain = keychain
        // Before it looks: a change after that is told.
        listener = try keychain.connection.listenForChanges()
        known = try look()
    }

    func look(_ tell: (Keychain.Change) -> Void) throws(KeychainError) {
        if let epoch = lockedEpoch {
            _ = try keychain.connection.waitForLockChange(since: epoch, timeout: .lockFeedPause)
        } else if try !listener.waitForChange(timeout: .lockFeedPause), !hasExpiry {
            return
        }
        guard let present = try look() else { return }
        defer { known = present }
        guard let known else { return }
        for (key, version) in present where known[key] != version {
            tell(Keychain.Change(kind: known[key] == nil ? .added : .changed, key: key.text))
        }
        for key in known.keys where present[key] == nil { tell(Keychain.Change(kind: .removed, key: key.text)) }
    }

    /// Whether one of them has expired, which nobody may have noticed.
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
