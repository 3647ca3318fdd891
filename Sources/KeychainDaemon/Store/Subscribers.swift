internal import KeychainSystem
internal import Synchronization

/// The connections that are told of changes. Each connection looks for its own changes when it is woken.
final class Subscribers: Sendable {
    private let events = Mutex<[ObjectIdentifier: EventDescriptor]>([:])

    var count: Int { events.withLock { $0.count } }

    /// Runs `body` with an event that is set after each change.
    func withEvent<R, E: Error>(
        _ event: EventDescriptor, _ body: () throws(E) -> R
    ) throws(E) -> R {
        events.withLock { $0[ObjectIdentifier(event)] = event }
        defer { events.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(event)) } }
        return try body()
    }

    func wake() {
        for event in events.withLock({ Array($0.values) }) { event.set() }
    }
}
