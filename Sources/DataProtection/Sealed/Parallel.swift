internal import Dispatch
internal import Foundation
@_implementationOnly import KeychainCrypto
internal import KeychainModel
internal import Synchronization

/// The same work for many parts of a file, on all processors.
enum Parallel {
    /// Asked for once: Foundation reads several files of the system each time.
    private static let processorCount = ProcessInfo.processInfo.activeProcessorCount

    /// Calls `body` for 0 up to `count`, in any order, from several threads at once.
    ///
    /// - Parameter makeState: What one thread uses for all its parts.
    /// - Throws: the first failure; parts that were not begun by then are left out.
    static func forEach<State>(
        _ count: Int, state makeState: @Sendable () -> State,
        _ body: @Sendable (Int, State) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        if count == 1 { return try body(0, makeState()) }
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
        let threads = min(count, processorCount)
        if threads <= 1 { work() } else { DispatchQueue.concurrentPerform(iterations: threads) { _ in work() } }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

/// Lets the parts of some work come one after the other by their numbers, from 0 on, whatever threads do them.
///
/// After one that fails no other is done. Every part must come here, unless there was a failure before.
final class InOrder: @unchecked Sendable {  // the condition guards the rest
    private let condition = NSCondition()
    private var next = 0
    private var hasFailed = false

    func run(
        _ number: Int, _ body: () throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        let mayRun = condition.withLock {
            while next < number && !hasFailed { condition.wait() }
            return !hasFailed
        }
        guard mayRun else { return }
        var isDone = false
        defer {
            condition.withLock {
                next += 1
                if !isDone { hasFailed = true }
                condition.broadcast()
            }
        }
        try body()
        isDone = true
    }

    /// A part does not come: those that wait for it need not.
    func fail() {
        condition.withLock {
            hasFailed = true
            condition.broadcast()
        }
    }
}

/// A value that several threads read.
struct Shared<Value>: @unchecked Sendable {  // it is only read
    let value: Value
    init(_ value: Value) { self.value = value }
}

/// The entries that threads make, each in its own place.
final class EntryList: @unchecked Sendable {  // no two threads have the same place
    private let places: UnsafeMutableBufferPointer<FileEntry>

    init(_ count: Int) {
        places = .allocate(capacity: count)
        places.initialize(repeating: FileEntry(page: 0, writeCount: 0, length: 0))
    }

    deinit { places.deallocate() }

    subscript(index: Int) -> FileEntry {
        get { places[index] }
        set { places[index] = newValue }
    }

    var entries: [FileEntry] { Array(places) }
}
