internal import KeychainWire
internal import Synchronization

/// The reason why something ends, once it does. Every request looks at it.
final class Ending: Sendable {
    private let isSet = Atomic(false)
    private let first = Mutex<DaemonGoodbye?>(nil)

    /// nil: it does not end.
    var goodbye: DaemonGoodbye? { isSet.load(ordering: .acquiring) ? first.withLock { $0 } : nil }

    func set(_ goodbye: DaemonGoodbye) {
        first.withLock { $0 = $0 ?? goodbye }
        isSet.store(true, ordering: .releasing)
    }

    /// It goes on after all.
    func clear() {
        isSet.store(false, ordering: .releasing)
        first.withLock { $0 = nil }
    }
}
