internal import KeychainCrypto
internal import KeychainModel
internal import Synchronization

/// Renews all keys. The renewal goes row by row, in batches that are each whole or absent, and can be interrupted at
/// any point: each row names the generation of its keys, and until the end the keybag has both generations. The former
/// keys go when every row is under the newest ones, and stay for as long as one row does not open or the database is
/// damaged.
extension Engine {
    /// The progress of this process.
    struct Rekeying: Sendable {
        /// The generation of keys that rows are brought under.
        var generation: UInt32 = 0
        /// Rows below this one are done.
        var cursor: Int64 = 1
        var done = 0
        /// Rows that could not be brought under the new keys.
        var left: Set<Int64> = []
        var total: Int?
    }

    /// Makes every process seal new data under new keys from now on.
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
        // A damaged row is left as it is, and so are the former keys. The damage may be newer than the start of the
        // renewal, and earlier versions began a renewal in spite of damage.
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
        // The log still has rows under the old keys, so it is emptied before they are dropped.
        emptyLog()
        // A row that does not open today, or is not found, can be mended later only with its keys.
        guard try present.left.isEmpty && items.isDatabaseWhole() else {
            return RekeyProgress(done: max(0, total - present.left.count), total: total, isFinished: true)
        }
        try items.forgetOldHomes()
        try keys.finishRekey()
        return RekeyProgress(done: total, total: total, isFinished: true)
    }

    /// The progress for a caller. On the system's host, where any program may ask, it is in per cent: the number of all
    /// items would tell of other programs'.
    func told(_ progress: RekeyProgress) -> RekeyProgress {
        guard configuration.host == .system else { return progress }
        let part = progress.total == 0 ? 100 : progress.done * 100 / progress.total
        return RekeyProgress(done: part, total: 100, isFinished: progress.isFinished)
    }

    /// - Throws: `.interactionNotAllowed` if the keys are out of reach.
    func finishPendingRekey() throws {
        guard try keys.begin().snapshot.bag.isRekeying else { return }
        while try !rekeyStep().isFinished {}
    }
}
