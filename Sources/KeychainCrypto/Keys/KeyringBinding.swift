package import FoundationEssentials
package import KeychainModel

/// The keys that the kernel keeps for a store open in one place only (docs/keybag-format.md): for this store, this directory
/// and this keybag. They open until the system starts again, and those of the tiers A and I until the next lock.
package struct KeyringBinding: Sendable {
    package var storeID: UUID
    /// The device and inode of the store's directory, by stat(2): a copy of the store is in another directory.
    package var device: UInt64
    package var inode: UInt64
    package var bag: Keybag
    /// The epoch that the last lock began: older records that are put back have another one. The epoch does not count
    /// for tier C, which a lock leaves.
    package var lockedAt: UInt64
    /// One start of the system, which no keyring survives.
    package var boot: UUID

    package init(storeID: UUID, device: UInt64, inode: UInt64, bag: Keybag, lockedAt: UInt64, boot: UUID) {
        self.storeID = storeID
        self.device = device
        self.inode = inode
        self.bag = bag
        self.lockedAt = lockedAt
        self.boot = boot
    }

    /// The key that seals the records.
    package func key(deviceKey: KeyMaterial) throws(KeychainError) -> KeyMaterial {
        let place = KeyContext(storeID).adding(bag.generation).adding(device).adding(inode)
        return try deviceKey.derived("keyring 2", place.adding(bag.tag(deviceKey: deviceKey)))
    }

    /// The data that is authenticated with the keys of one tier.
    package func context(_ tier: KeyTier) -> KeyContext {
        Self.context(tier, storeID, lockedAt: lockedAt, boot: boot)
    }

    /// The context of one tier, for a caller that has the key already.
    ///
    /// - Parameter lockTime: For tier I, the time of the lock from which its end counts; 0: before a lock.
    package static func context(
        _ tier: KeyTier, _ storeID: UUID, lockedAt: UInt64, boot: UUID, lockTime: UInt64 = 0
    ) -> KeyContext {
        let context = KeyContext(storeID).adding(tier.rawValue.utf8.first!)  // a letter
            .adding(tier == .afterFirstUnlock ? 0 : lockedAt).adding(boot)
        return tier == .whenUserInactive ? context.adding(lockTime) : context
    }
}
