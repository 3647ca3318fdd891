internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire
internal import Synchronization

/// The daemon's wish to end, with its reason.
final class EndRequest: Sendable {
    let event: EventDescriptor
    private let first = Mutex<DaemonGoodbye?>(nil)

    init() throws(KeychainError) { event = try EventDescriptor.make() }

    /// nil: the daemon is not to end.
    var goodbye: DaemonGoodbye? { first.withLock { $0 } }

    func set(_ goodbye: DaemonGoodbye) {
        first.withLock { $0 = $0 ?? goodbye }
        event.set()
    }
}

extension EventDescriptor {
    static func make() throws(KeychainError) -> EventDescriptor {
        do throws(SystemError) { return try EventDescriptor() } catch {
            throw KeychainError(.allocation, message: error.message)
        }
    }
}
