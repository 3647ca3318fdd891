package import Glibc

/// A value behind a lock that many threads take, each for a moment
/// (docs/decisions/021-locks-that-are-not-handed-over.md).
///
/// A thread that comes while the lock is free takes it, even before a thread that was woken for it and does not run
/// yet. `Synchronization.Mutex` gives the lock to the woken thread: with more threads than processors, all others wait
/// for that thread to run, one after the other, and no thread finds the lock free again.
///
/// Inlined: in another module, a value of an unknown type would be handled by its witness tables.
package struct BriefLock<Value: Sendable>: ~Copyable, @unchecked Sendable {  // the value is behind the lock
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @usableFromInline let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    package init(_ value: Value) {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inlinable package borrowing func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
