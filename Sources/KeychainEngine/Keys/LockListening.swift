internal import Synchronization

/// A listener that is told before a lock, until ``end()`` or the end of this object.
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
