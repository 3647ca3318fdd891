internal import Dispatch
internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel
internal import Synchronization

/// Work on many parts of a file, on all processors.
enum Parallel {
    /// The number of processors. It is read once, since Foundation reads several files of the system each time.
    private static let processorCount = ProcessInfo.processInfo.activeProcessorCount

    /// Calls `body` for 0 up to `count`, in any order, from several threads at once.
    ///
    /// - Parameter makeState: Makes the state that one thread uses for all its parts.
    /// - Throws: The first failure. Parts that have not begun by then are left out.
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

extension Parallel {
    /// Makes a value for each number from 0 up to `count`, from several threads at once.
    static func map<State, Value>(
        _ count: Int, state makeState: @Sendable () -> State,
        _ body: @Sendable (Int, State) throws(DataProtectionError) -> Value
    ) throws(DataProtectionError) -> [Value] {
        let results = Results<Value>(count)
        try forEach(count, state: makeState) { (number, state) throws(DataProtectionError) in
            results.set(number, try body(number, state))
        }
        return results.all
    }
}

/// Does the second half of each part of some work in the order of the parts' numbers, from 0 on.
///
/// Any thread may do any first half. No thread waits for another one: a thread whose turn has not come leaves its part
/// to the thread before it. After a failure no further second half is done.
final class InOrder: Sendable {
    private struct State {
        var ready: Set<Int> = []
        var next = 0
        /// Whether a thread is doing the second halves. Only one does at a time.
        var isBusy = false
    }
    private let state = Mutex(State())

    /// Tells that the first half of a part is done.
    ///
    /// - Parameter finish: Does the second half of a part, which may be another thread's part.
    func add(
        _ number: Int, _ finish: (Int) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        let isMine = state.withLock { state in
            state.ready.insert(number)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard isMine else { return }
        // The flag stays set after a failure.
        while let part = nextPart() { try finish(part) }
    }

    private func nextPart() -> Int? {
        state.withLock { state in
            guard state.ready.remove(state.next) != nil else {
                state.isBusy = false
                return nil
            }
            state.next += 1
            return state.next - 1
        }
    }
}

/// The results of threads, each at an index of its own.
final class Results<Value>: @unchecked Sendable {  // each thread has places of its own
    private let places: UnsafeMutableBufferPointer<Value?>

    init(_ count: Int) {
        places = .allocate(capacity: count)
        places.initialize(repeating: nil)
    }

    deinit {
        places.deinitialize()
        places.deallocate()
    }

    /// Puts a result in its place.
    func set(_ index: Int, _ value: Value) { places[index] = value }

    /// The results, after all threads are done.
    var all: [Value] { places.map { $0! } }
}
