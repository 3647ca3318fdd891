internal import KeychainModel
internal import Synchronization

/// That the daemon ends by itself, and why.
final class EndRequest: Sendable {
    let event: EventDescriptor
    private let first = Mutex<DaemonGoodbye?>(nil)

    init() throws(KeychainError) { event = try EventDescriptor() }

    /// nil: nobody asks for it.
    var goodbye: DaemonGoodbye? { first.withLock { $0 } }

    func set(_ goodbye: DaemonGoodbye) {
        first.withLock { $0 = $0 ?? goodbye }
        event.set()
    }
}
