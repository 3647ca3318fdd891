internal import Glibc

/// A lock, and a wait for a change of the state that it guards.
///
/// Where nothing waits, `Mutex` guards the state.
package final class Condition: @unchecked Sendable {  // the kernel's objects are made for several threads
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(change, nil)
    }

    deinit {
        pthread_cond_destroy(change)
        pthread_mutex_destroy(mutex)
        change.deallocate()
        mutex.deallocate()
    }

    package func lock() { pthread_mutex_lock(mutex) }
    package func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }
    package func unlock() { pthread_mutex_unlock(mutex) }

    package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        lock()
        defer { unlock() }
        return try body()
    }

    /// Wakes one waiting thread.
    package func signal() { pthread_cond_signal(change) }

    /// Wakes all waiting threads.
    package func broadcast() { pthread_cond_broadcast(change) }

    /// Waits with the lock given up. It may return without a change.
    package func wait() { pthread_cond_wait(change, mutex) }

    /// Waits with the lock given up. It may return without a change.
    ///
    /// - Parameter end: The system's clock wakes the thread, since that clock goes on while the system sleeps. If it is
    ///   set back meanwhile, the wait is longer by that.
    /// - Returns: false if the time is over.
    package func wait(until end: ContinuousClock.Instant) -> Bool {
        // A year is as good as for ever, and no sum overflows.
        let (seconds, attoseconds) = min(ContinuousClock.now.duration(to: end), .seconds(365 * 86_400)).components
        guard seconds >= 0, attoseconds >= 0 else { return false }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
        time.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        pthread_cond_timedwait(change, mutex, &time)
        return .now < end
    }
}
