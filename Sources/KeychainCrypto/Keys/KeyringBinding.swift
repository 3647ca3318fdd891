package import Foundation
package import KeychainModel

/// What the keys of a store are bound to while the kernel keeps them (docs/keybag-format.md): one store, one directory, one
/// keybag and one unlock. Anything else opens nothing of them.
package struct KeyringBinding: Sendable {
    package var storeID: UUID
    /// Of the store's directory, by stat(2): a copy of the store is in another one.
    package var device: UInt64
    package var inode: UInt64
    package var bag: Keybag
    /// The epoch of the lock that the last unlock began: what is put back after a lock is of another one.
    package var unlockedAt: UInt64

    package init(storeID: UUID, device: UInt64, inode: UInt64, bag: Keybag, unlockedAt: UInt64) {
        self.storeID = storeID
        self.device = device
        self.inode = inode
        self.bag = bag
        self.unlockedAt = unlockedAt
    }

    /// What they are sealed under.
    package func key(deviceKey: KeyMaterial) throws(KeychainError) -> KeyMaterial {
        let place = KeyContext(storeID).adding(bag.generation).adding(device).adding(inode)
        return try deviceKey.derived("keyring 2", place.adding(bag.tag(deviceKey: deviceKey)))
    }

    /// What is authenticated with the keys of one tier.
    package func context(_ tier: KeyTier) -> KeyContext { Self.context(tier, storeID, unlockedAt: unlockedAt) }

    /// The same for the one who has the key already.
    package static func context(_ tier: KeyTier, _ storeID: UUID, unlockedAt: UInt64) -> KeyContext {
        KeyContext(storeID).adding(tier.rawValue.utf8.first!).adding(unlockedAt)  // a letter
    }
}
