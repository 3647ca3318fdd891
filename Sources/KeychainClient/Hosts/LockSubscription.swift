internal import KeychainModel
internal import Synchronization

/// A connection on which a daemon tells of its lock. Belongs to one thread at a time.
final class LockSubscription: @unchecked Sendable {  // the carrier gives it to one thread at a time
    private let address: DaemonAddress
    private let socket: DaemonSocket
    /// The epoch that was told last; nil: none yet.
    private var known: UInt64?

    /// - Parameter delaysLocks: Whether locks with notice wait for the end of this.
    /// - Throws: `.notAvailable` if no daemon answers.
    init(_ address: DaemonAddress, _ patience: Patience, delaysLocks: Bool = false) throws(KeychainError) {
        self.address = address
        // The caller has no groups: changes of items are none of its business.
        socket = try DaemonSocket(address, as: Caller(groups: []), patience)
        try socket.subscribe(address, delaysLocks: delaysLocks)
    }

    /// Returns the present epoch as soon as it is another one, or `epoch` when the time is over.
    func epoch(otherThan epoch: UInt64, until end: ContinuousClock.Instant) throws(KeychainError) -> UInt64 {
        if let present = known, present != epoch { return present }
        while let change = try socket.nextChange(until: end, address) {
            guard case .lock(let status) = change else { continue }
            known = status.epoch
            if status.epoch != epoch { return status.epoch }
        }
        return epoch
    }

    /// Returns when the daemon has begun to tell.
    func awaitFirst() throws(KeychainError) { known = try socket.awaitFirst(address).epoch }
}

/// A connection for which a daemon's locks wait.
final class SubscribedLockListener: LockListener {
    private let subscription: Mutex<LockSubscription?>

    /// Returns when locks wait for it.
    ///
    /// - Throws: `.notAvailable` if no daemon answers in time.
    init(_ address: DaemonAddress, _ patience: Patience) throws(KeychainError) {
        let subscription = try LockSubscription(address, patience, delaysLocks: true)
        try subscription.awaitFirst()
        self.subscription = Mutex(subscription)
    }

    func waitForChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 {
        guard let subscription = subscription.withLock({ $0 }) else {
            throw KeychainError(.notAvailable, message: "nobody listens for locks here any more")
        }
        return try subscription.epoch(otherThan: epoch, until: .now + timeout)
    }

    func end() { subscription.withLock { $0 = nil } }
}
