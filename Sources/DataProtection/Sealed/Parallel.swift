internal import Dispatch
internal import Foundation
internal import Synchronization

/// The same work for many parts of a file, on all processors.
enum Parallel {
    /// Calls `body` for 0 up to `count`, in any order, from several threads at once.
    ///
    /// - Parameter makeState: What one thread uses for all its parts.
    /// - Throws: the first failure; parts that were not begun by then are left out.
    static func forEach<State>(
        _ count: Int, state makeState: @Sendable () -> State,
        _ body: @Sendable (Int, State) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        let next = Atomic(0)
        let failure = Mutex<DataProtectionError?>(nil)
        @Sendable func work() {
            let state = makeState()
            while failure.withLock({ $0 == nil }) {
                let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard index < count else { return }
                do throws(DataProtectionError) {
                    try body(index, state)
                } catch {
                    failure.withLock { $0 = $0 ?? error }
                }
            }
        }
        let threads = min(count, ProcessInfo.processInfo.activeProcessorCount)
        if threads <= 1 { work() } else { DispatchQueue.concurrentPerform(iterations: threads) { _ in work() } }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
