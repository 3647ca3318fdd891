package import KeychainModel

extension StoreLocation {
    /// Gives the store, or a new one, to a host, in one step. Programs that have it open are refused from their next call
    /// on, and unlocked keys are locked. No daemon may have a store that is closed for a move or goes back to the programs:
    /// a running one gives it up itself (``Request/giveUpStore``).
    ///
    /// If the call was cut short, it is to be repeated.
    ///
    /// - Parameter former: The present word of its mark; nil: any, unless the store is closed for a move.
    /// - Throws: `.notAvailable` if the files cannot be written, a daemon has the store open, or the mark is another one.
    package func handOver(from former: StoreHost? = nil, to host: StoreHost) throws(KeychainError) {
        try Embedded.host.handOver(self, from: former, to: host)
    }

    /// The way to the store as its owner.
    ///
    /// - Parameter host: The present word of its mark. Unless it is ``StoreHost/embedded``, no other process opens the
    ///   store until ``Request/giveUpStore``.
    package func connection(as host: StoreHost) throws(KeychainError) -> Connection {
        let engine = try Embedded.host.open(self, as: host, biometry: nil)
        return Connection(engine: engine, caller: Caller(groups: [], authority: .owner))
    }
}
