internal import KeychainModel

/// A connection on which a daemon tells of its lock. Belongs to one thread at a time.
final class LockSubscription: @unchecked Sendable {  // the carrier gives it to one thread at a time
    private let address: DaemonAddress
    private let socket: DaemonSocket
    /// What was told last; nil: nothing yet.
    private var known: UInt64?

    /// - Throws: `.notAvailable` if no daemon answers.
    init(_ address: DaemonAddress) throws(KeychainError) {
        self.address = address
        // As nobody: the items that change are none of its business.
        socket = try DaemonSocket(address, as: Caller(groups: []))
        try socket.subscribe(address)
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
}
