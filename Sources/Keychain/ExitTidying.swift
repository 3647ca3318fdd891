internal import Glibc
internal import KeychainEngine
internal import Synchronization

/// Engines that are tidied up when the process ends in the ordinary way: nobody destroys what lives as long as it.
enum ExitTidying {
    private struct Entry: Sendable { weak var engine: Engine? }

    private static let entries = Mutex<[Entry]>([])
    private static let isRegistered: Bool =
        atexit {
            for entry in entries.withLock({ $0 }) { entry.engine?.emptyLog() }
        } == 0

    static func add(_ engine: Engine) {
        // Without a place in the list of handlers the log stays, and the next process empties it.
        guard isRegistered else { return }
        entries.withLock { entries in
            entries.removeAll { $0.engine == nil }
            entries.append(Entry(engine: engine))
        }
    }
}
