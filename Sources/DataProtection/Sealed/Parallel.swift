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
