internal import Synchronization

/// Somebody wants to be told before a lock, until ``end()`` or for as long as this lives.
final class LockListening: Sendable {
    private let onEnd: Mutex<(@Sendable () -> Void)?>

    init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = Mutex(onEnd) }

    deinit { end() }

    func end() {
        let body = onEnd.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
    }
}
