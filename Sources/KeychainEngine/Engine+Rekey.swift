internal import KeychainCrypto
internal import KeychainModel
internal import Synchronization

/// The renewal of all keys. It goes row by row, in batches that are each whole or not there at all, and can be
/// interrupted at any point: rows say which generation of keys they are under, and until the end the keybag has both.
extension Engine {
    /// How far this process has come.
    struct Rekeying: Sendable {
        /// Which renewal this is about: the generation of keys that rows are brought under.
        var generation: UInt32 = 0
        /// Rows below this one were dealt with.
        var cursor: Int64 = 1
        var done = 0
        var total: Int?
    }

    /// From now on everything that is written is sealed under the new keys, by whatever process.
    func beginRekey() throws -> RekeyProgress {
        let items = try items()
        let total = try items.beginRekey()
        rekeying.withLock { $0 = Rekeying(generation: items.keys.generation, total: total) }
        return RekeyProgress(done: 0, total: total, isFinished: false)
    }

    func rekeyStep() throws -> RekeyProgress {
        let items = try items()
        guard items.keys.snapshot.bag.isRekeying else {
            let total = try items.rowCount()
            return RekeyProgress(done: total, total: total, isFinished: true)
        }
        var present = rekeying.withLock { $0 }
        // Another process may have finished that renewal, and begun another one.
        if present.generation != items.keys.generation { present = Rekeying(generation: items.keys.generation) }
        let total = try present.total ?? items.beginRekey()
        let step = try items.rekeyBatch(from: present.cursor)
        present.done = min(total, present.done + step.count)
        present.total = total
        if let next = step.next {
            present.cursor = next
            rekeying.withLock { $0 = present }
            return RekeyProgress(done: present.done, total: total, isFinished: false)
        }
        // Nobody but this process counted these rows; before the old keys go, all are looked at once more.
        guard try items.isNothingLeft() else {
            rekeying.withLock { $0 = Rekeying(generation: items.keys.generation) }
            return RekeyProgress(done: present.done, total: total, isFinished: false)
        }
        try items.forgetOldHomes()
        // The log still has rows under the old keys; before these are dropped it should not.
        emptyLog()
        try keys.finishRekey()
        rekeying.withLock { $0 = Rekeying() }
        return RekeyProgress(done: total, total: total, isFinished: true)
    }

    /// - Throws: `.interactionNotAllowed` if the keys are not within reach.
    func finishPendingRekey() throws {
        guard try keys.begin().snapshot.bag.isRekeying else { return }
        while try !rekeyStep().isFinished {}
    }
}
