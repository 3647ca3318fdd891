internal import Glibc
internal import KeychainModel
internal import Synchronization

/// Tells engines that the process ends in the ordinary way: objects that live as long as the process are never
/// destroyed.
enum ProcessExit {
    private struct Listener: Sendable { weak var handler: (any RequestHandler)? }

    private static let listeners = Mutex<[Listener]>([])
    private static let isRegistered: Bool =
        atexit {
            for listener in listeners.withLock({ $0 }) { listener.handler?.prepareForExit() }
        } == 0

    static func announce(to handler: any RequestHandler) {
        // Without a place in the system's list the log stays, and the next process that writes empties it.
        guard isRegistered else { return }
        listeners.withLock { listeners in
            listeners.removeAll { $0.handler == nil }
            listeners.append(Listener(handler: handler))
        }
    }
}
