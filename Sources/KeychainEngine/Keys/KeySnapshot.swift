package import KeychainCrypto
internal import KeychainModel

/// A process's view of a store's keys at one epoch of its lock.
package final class KeySnapshot: Sendable {
    /// The place of the keys of the "when unlocked" tier.
    enum WhenUnlocked: Sendable {
        /// The snapshot has the keys, since no passcode is set.
        case unprotected(KeySet)
        /// This process may have the keys: the kernel refuses keyrings. The snapshot has none, since no lock would
        /// reach it.
        case process
        /// The kernel's keyring has the keys, under this number.
        case keyring(Int32)
        case locked
    }

    let record: LockRecord
    package let bag: Keybag
    let always: KeySet
    /// nil if the store was not unlocked since the system started.
    let afterFirstUnlock: KeySet?
    let whenUnlocked: WhenUnlocked
    /// The key that seals the kernel's copy of the keys; nil without a passcode.
    let keyringKey: KeyMaterial?
    /// The generations of keys in use, the newest first.
    let generations: [UInt32]
    /// The generation that rows are sealed under now.
    let newestGeneration: UInt32

    init(
        record: LockRecord, bag: Keybag, always: KeySet, afterFirstUnlock: KeySet?, whenUnlocked: WhenUnlocked,
        keyringKey: KeyMaterial?
    ) {
        self.record = record
        self.bag = bag
        self.always = always
        self.afterFirstUnlock = afterFirstUnlock
        self.whenUnlocked = whenUnlocked
        self.keyringKey = keyringKey
        generations = bag.keyGenerations
        newestGeneration = bag.keyGeneration
    }

    /// The worst kind of memory that keys are kept in.
    var memoryKind: KeyMemoryKind {
        let kinds = [always.memoryKind, afterFirstUnlock?.memoryKind].compactMap(\.self)
        return KeyMemoryKind.allCases.last { kinds.contains($0) } ?? .ordinary
    }
}
