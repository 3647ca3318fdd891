package import KeychainCrypto
internal import KeychainModel

/// What a process knows of a store's keys at one epoch of its lock.
package final class KeySnapshot: Sendable {
    /// Where the keys are that are there while unlocked.
    enum WhenUnlocked: Sendable {
        /// Here, since no passcode is set.
        case unprotected(KeySet)
        /// In this process, if anywhere: the kernel refuses keyrings. Not kept here, where no lock would reach them.
        case process
        /// In the kernel's keyring, under this number.
        case keyring(Int32)
        case locked
    }

    let record: LockRecord
    package let bag: Keybag
    let always: KeySet
    /// nil: not unlocked since the system started.
    let afterFirstUnlock: KeySet?
    let whenUnlocked: WhenUnlocked
    /// What the kernel's copy of the keys is sealed under; nil without a passcode.
    let keyringKey: KeyMaterial?
    /// The generations of keys in use, the newest first.
    let generations: [UInt32]
    /// The one that rows are sealed under now.
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

    /// What the memory is that keys are kept in: the worst there is.
    var memoryKind: KeyMemoryKind {
        let kinds = [always.memoryKind, afterFirstUnlock?.memoryKind].compactMap(\.self)
        return KeyMemoryKind.allCases.last { kinds.contains($0) } ?? .ordinary
    }
}
