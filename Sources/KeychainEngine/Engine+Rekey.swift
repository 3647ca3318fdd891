internal import KeychainCrypto
internal import KeychainModel
internal import Synchronization

/// The renewal of all keys. It goes row by row, in batches that are each whole or not there at all, and can be
/// interrupted at any point: rows say which generation of keys they are under, and until the end the keybag has both. The
/// former keys go when every row is under the newest ones, and stay for as long as one does not open or the database is
/// damaged.
extension Engine {
    /// How far this process has come.
    struct Rekeying: Sendable {
        /// Which renewal this is about: the generation of keys that rows are brought under.
        var generation: UInt32 = 0
        /// Rows below this one were dealt with.
        var cursor: Int64 = 1
        var done = 0
        /// Rows that could not be brought under them.
        var left: Set<Int64> = []
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
        // As before any renewal: what is damaged since then, or was before a program of an earlier version began it, is
        // left as it is, and so are the former keys.
        if try present.cursor == 1 && !store.integrityProblems().isEmpty {
            return RekeyProgress(done: 0, total: try items.rowCount(), isFinished: true)
        }
        let total = try present.total ?? items.beginRekey()
        let batch = try items.rekeyBatch(from: present.cursor)
        present.left.formUnion(batch.left)
        present.done = min(total, present.done + batch.count - batch.left.count)
        present.total = total
        if let next = batch.next {
            present.cursor = next
            rekeying.withLock { $0 = present }
            return RekeyProgress(done: present.done, total: total, isFinished: false)
        }
        rekeying.withLock { $0 = Rekeying(generation: items.keys.generation) }
        // A row that came under former keys behind the cursor makes the renewal begin anew.
        guard try items.isNothingOutdated(besides: present.left) else {
            return RekeyProgress(done: present.done, total: total, isFinished: false)
        }
        // The log still has rows under the old keys; before these are dropped it should not.
        emptyLog()
        // A row that does not open today, or is not found, may be mended, but not without its keys.
        guard try present.left.isEmpty && items.isDatabaseWhole() else {
            return RekeyProgress(done: max(0, total - present.left.count), total: total, isFinished: true)
        }
        try items.forgetOldHomes()
        try keys.finishRekey()
        return RekeyProgress(done: total, total: total, isFinished: true)
    }

    /// - Throws: `.interactionNotAllowed` if the keys are not within reach.
    func finishPendingRekey() throws {
        guard try keys.begin().snapshot.bag.isRekeying else { return }
        while try !rekeyStep().isFinished {}
    }
}
