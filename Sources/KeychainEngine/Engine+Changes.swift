internal import KeychainCrypto
package import KeychainModel

extension Engine {
    package func lockEpoch() -> UInt64? { keys.state.read()?.epoch }

    package func listenForLocks() throws(KeychainError) -> any LockListener {
        EngineLockListener(keys, try keys.state.listen())
    }
}

extension Engine {
    /// The listener hears of all changes: every caller is this process.
    package func listenForChanges(as _: Caller) throws(KeychainError) -> any ChangeListener { try store.watch.listen() }
}

private final class EngineLockListener: LockListener {
    private let keys: KeyStore
    private let listening: LockListening

    init(_ keys: KeyStore, _ listening: LockListening) {
        self.keys = keys
        self.listening = listening
    }

    func waitForChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 {
        try keys.announceDisuse()
        return try keys.state.waitForChange(since: epoch, timeout: timeout)
    }

    func end() { listening.end() }
}

/// The calls that a daemon needs besides requests. A daemon has the store alone, so it makes every change itself.
extension Engine: ChangeSource {
    package func handle(_ request: Request, from caller: Caller, mostBytes: Int) throws(KeychainError) -> Reply {
        try handle(request, from: caller, within: mostBytes)
    }

    package func position() throws(KeychainError) -> ChangePosition {
        ChangePosition(epoch: keys.state.read()?.epoch ?? 0, revision: changes.revision)
    }

    package func waitForChange(
        after position: ChangePosition, timeout: Duration?
    ) throws(KeychainError) -> ChangePosition {
        signal.wait(until: timeout.map { .now + $0 }) {
            keys.state.read()?.epoch ?? 0 != position.epoch || changes.revision != position.revision
        }
        return try self.position()
    }

    package func stopWaiting() { signal.stop() }

    package func changes(
        after position: ChangePosition, for caller: Caller
    ) throws(KeychainError) -> (changes: [StoreChange], position: ChangePosition) {
        let items = changes.changes(after: position.revision, for: caller)
        var told = items.changes
        // The status is read first: an epoch that begins meanwhile is told with the next look.
        let status = try keys.status()
        if status.epoch != position.epoch { told.insert(.lock(status), at: 0) }
        return (told, ChangePosition(epoch: status.epoch, revision: items.revision))
    }

    package func lockIfDue() throws(KeychainError) -> Duration? { try keys.lockIfDue() }

    package func removeExpiredIfDue() throws(KeychainError) -> Duration? {
        let owner = Caller(groups: [], authority: .owner)
        guard case .expired(let sweep) = try handle(.removeExpired, from: owner), let next = sweep.next else {
            return nil
        }
        let now = ExpiryDate(clamping: configuration.clock.now)
        let rest = Duration.milliseconds(next.milliseconds - min(now.milliseconds, next.milliseconds))
        // The wait is bounded, since it does not notice when the clock is set.
        return min(max(rest, .milliseconds(1)), .seconds(3_600))
    }

    package func setWatched(_ isWatched: Bool) { keys.setWatched(isWatched) }
}
