internal import Foundation
internal import KeychainModel
internal import Synchronization

extension Keychain {
    /// Something that has happened to a key.
    public struct Change: Sendable, Hashable {
        public enum Kind: Sendable, Hashable { case added, changed, removed }
        public var kind: Kind
        public var key: String

        public init(kind: Kind, key: String) {
            self.kind = kind
            self.key = key
        }
    }

    /// What happens to its keys from now on, by whichever program. Several changes of one key in a row may be told as one, and
    /// one that is taken back within a moment not at all. Items whose reading asks a person are not told of.
    ///
    /// While the keychain is locked nothing can be told: it is told after the unlock. The stream ends when the keychain cannot
    /// be looked at any more, and at once if it never could. It costs one thread for as long as someone has the stream, and
    /// each change in the keychain a look at all of its items.
    public var changes: AsyncStream<Change> {
        let connection = connection
        let keychain = with { $0.ownConnection = connection }
        return LockFeed.stream { () throws(KeychainError) in try ItemFollower(keychain) }
    }
}

/// Tells each change of a keychain's items.
final class ItemFollower: LockFollower, @unchecked Sendable {  // one thread has it
    private let keychain: Keychain
    private let listener: any ChangeListener
    /// nil: it has been locked from the beginning on.
    private var known: [String: ItemVersion]?
    /// nil: it was not locked at the last look. Otherwise the lock's epoch before that look.
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
        } else if try !listener.waitForChange(timeout: .lockFeedPause) {
            return
        }
        guard let present = try look() else { return }
        defer { known = present }
        guard let known else { return }
        for (key, version) in present where known[key] != version {
            tell(Keychain.Change(kind: known[key] == nil ? .added : .changed, key: key))
        }
        for key in known.keys where present[key] == nil { tell(Keychain.Change(kind: .removed, key: key)) }
    }

    /// nil: it is locked.
    private func look() throws(KeychainError) -> [String: ItemVersion]? {
        let epoch = try keychain.connection.lockStatus().epoch
        var query = try keychain.query(for: nil)
        query.authenticationUI = .skip
        do throws(KeychainError) {
            let items = try keychain.items(query, wantsSecrets: false)
            lockedEpoch = nil
            return Dictionary(items.compactMap { item in keychain.key(of: item).map { ($0, ItemVersion(item)) } }) {
                $1
            }
        } catch  where error.code == .interactionNotAllowed {
            lockedEpoch = epoch
            return nil
        }
    }

    func end() {}
}
