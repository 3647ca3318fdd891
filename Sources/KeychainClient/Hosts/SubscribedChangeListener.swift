internal import KeychainModel

/// A connection on which a daemon tells of changes of a caller's items.
final class SubscribedChangeListener: ChangeListener, @unchecked Sendable {  // one thread has it
    private let address: DaemonAddress
    private let socket: DaemonSocket

    /// Returns when every later change is told.
    ///
    /// - Throws: `.notAvailable` if no daemon answers in time.
    init(_ address: DaemonAddress, as caller: Caller, _ patience: Patience) throws(KeychainError) {
        self.address = address
        socket = try DaemonSocket(address, as: caller, patience)
        try socket.subscribe(address, delaysLocks: false)
        _ = try socket.awaitFirst(address)
    }

    func waitForChange(timeout: Duration) throws(KeychainError) -> Bool {
        let end = ContinuousClock.now + timeout
        while let change = try socket.nextChange(until: end, address) {
            if case .items = change { return true }
        }
        return false
    }
}
