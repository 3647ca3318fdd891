/// State that many threads use at once, each for a moment, behind a lock of the C library.
///
/// `Mutex` hands itself to the thread that waits longest (`FUTEX_LOCK_PI` of futex(2)). When more threads want it than
/// there are processors, each use of it then costs a change of threads.
package final class CrowdedMutex<Value>: @unchecked Sendable {  // the lock guards the value
    private let lock = Condition()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        try lock.withLock { () throws(E) in try body(&value) }
    }
}
