internal import CKeychainLinux
internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire

extension ClientConnection {
    /// Tells the client of every change from now on, first of the present lock. The client sends no more requests.
    ///
    /// - Parameter delaysLocks: Whether a lock with notice waits until the client has closed the connection.
    /// - Throws: the end of the connection, always.
    func tellChanges(
        _ id: UInt64, _ client: Client, delaysLocks: Bool
    ) throws(ConnectionEnd) -> Never {
        let (caller, engine) = (client.caller, client.engine)
        // Before the client is told how the lock is: it hears of every one that comes later.
        let listener = delaysLocks ? try asFailure { () throws(KeychainError) in try engine.listenForLocks() } : nil
        defer { listener?.end() }
        let event = try asFailure { () throws(KeychainError) in try EventDescriptor.make() }
        try client.store.subscribers.withEvent(event) { () throws(ConnectionEnd) -> Never in
            var position = try asFailure { () throws(KeychainError) in try engine.position() }
            try send(.event(id: id, .lock(try lockStatus(caller, engine))))
            while true {
                let told = position
                guard client.peer.isAlive else { throw .gone }
                try client.judgement.standing?.require()
                let (changes, next) = try asFailure { () throws(KeychainError) in
                    try engine.changes(after: told, for: caller)
                }
                for change in changes { try send(.event(id: id, change)) }
                position = next
                try wait(for: event)
            }
        }
    }

    private func lockStatus(_ caller: Caller, _ engine: any ChangeSource) throws(ConnectionEnd) -> LockStatus {
        try asFailure { () throws(KeychainError) in
            guard case .lockStatus(let status) = try engine.handle(.lockStatus, from: caller) else {
                throw KeychainError(.internalFailure, message: "the keychain answered something else than was asked")
            }
            return status
        }
    }

    /// Returns when something may have changed.
    private func wait(for event: EventDescriptor) throws(ConnectionEnd) {
        var waiting = [
            pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: event.number, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waiting, 2, -1) < 0 {}
        if waiting[0].revents != 0 {
            var byte: UInt8 = 0
            var count = 0
            var sender = ckeychain_sender()
            let failure = ckeychain_receive(socket.number, &byte, 1, &count, &sender)
            guard failure == 0, count > 0 else { throw .gone }
            throw .malformed("a connection that subscribed sends nothing more")
        }
        event.clear()
    }

    /// A connection that cannot go on ends with the store's error.
    func asFailure<R>(_ body: () throws(KeychainError) -> R) throws(ConnectionEnd) -> R {
        do throws(KeychainError) {
            return try body()
        } catch {
            throw .goodbye(.noStore, error.message)
        }
    }
}
