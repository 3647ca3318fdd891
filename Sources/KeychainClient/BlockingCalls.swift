internal import Dispatch
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Threads for calls that block, so that the threads of tasks are never blocked by them.
///
/// Not Dispatch's: when its threads are blocked it adds one more each second.
package final class BlockingCalls: TaskExecutor {
    package static let shared = BlockingCalls()

    /// The number of calls that are at work at once. One that waits for a person is not at work.
    private let mostAtWork: Int
    /// The number of calls that give up their places for a person. Further ones keep theirs, since each needs a thread.
    private static let mostWithPerson = 256
    /// After this time without work a thread ends.
    private static let patience = Duration.seconds(5)

    /// The calls by their right to begin. A call that waits for a place needs no thread.
    private struct Places {
        var atWork = 0
        /// The calls that wait for a person, each with a thread and without a place.
        var withPerson = 0
        var waiting: [(call: Call, begin: CheckedContinuation<Bool, Never>)] = []
    }

    private struct State {
        var jobs: [UnownedJob] = []
        var idle = 0
    }

    private let places = Mutex(Places())
    private let condition = Condition()
    private nonisolated(unsafe) var state = State()  // behind the condition

    /// As many as a process has connections to a daemon (``SocketCarrier``).
    package init(mostAtWork: Int = 16) { self.mostAtWork = mostAtWork }

    /// Runs what blocks on a thread of its own kind. It is done even if the task is cancelled.
    package func run<R: Sendable, E: Error>(_ body: @escaping @Sendable () throws(E) -> R) async throws(E) -> R {
        try await result(ifCancelled: nil, body).get()
    }

    /// Runs what blocks on a thread of its own kind.
    ///
    /// - Parameter cancelled: The error of a call whose task is cancelled before it begins. `nil` means that it is done
    ///   all the same.
    package func result<R: Sendable, E: Error>(
        ifCancelled cancelled: E?, _ body: @escaping @Sendable () throws(E) -> R
    ) async -> Result<R, E> {
        let mayBegin = await place(mayBeCancelled: cancelled != nil)
        if !mayBegin, let cancelled { return .failure(cancelled) }
        return await withTaskExecutorPreference(self) { await attempt(body) }
    }

    /// Non-isolated, so that it runs where the preference says.
    private func attempt<R: Sendable, E: Error>(_ body: @Sendable () throws(E) -> R) async -> Result<R, E> {
        defer { leave() }
        do throws(E) { return .success(try body()) } catch { return .failure(error) }
    }

    // MARK: Places

    /// Waits for a place.
    ///
    /// - Returns: false if the task was cancelled before there was one.
    private func place(mayBeCancelled: Bool) async -> Bool {
        guard mayBeCancelled else { return await nextPlace(Call(), mayBeCancelled: false) }
        let call = Call()
        return await withTaskCancellationHandler {
            await nextPlace(call, mayBeCancelled: true)
        } onCancel: {
            let begin = places.withLock { places -> CheckedContinuation<Bool, Never>? in
                let index = places.waiting.firstIndex { $0.call === call }
                return index.map { places.waiting.remove(at: $0).begin }
            }
            begin?.resume(returning: false)
        }
    }

    private func nextPlace(_ call: Call, mayBeCancelled: Bool) async -> Bool {
        await withCheckedContinuation { begin in
            let answer = places.withLock { places -> Bool? in
                // The handler takes the lock after the task counts as cancelled, so it is seen here or there.
                if mayBeCancelled && Task.isCancelled { return false }
                if places.atWork >= mostAtWork {
                    places.waiting.append((call, begin))
                    return nil
                }
                places.atWork += 1
                return true
            }
            if let answer { begin.resume(returning: answer) }
        }
    }

    /// Tells a call from all others.
    private final class Call: Sendable {}

    /// The number of calls that wait for a place, for tests.
    package var waitingCount: Int { places.withLock { $0.waiting.count } }

    /// Gives the place of a call to the next one.
    private func leave() {
        let next = places.withLock { places -> CheckedContinuation<Bool, Never>? in
            // Calls that came back from a person may be too many.
            if places.atWork <= mostAtWork && !places.waiting.isEmpty { return places.waiting.removeFirst().begin }
            places.atWork -= 1
            return nil
        }
        next?.resume(returning: true)
    }

    /// - Returns: false: too many others wait for a person, and the place is kept.
    private func leaveForPerson() -> Bool {
        let mayLeave = places.withLock { places in
            guard places.withPerson < Self.mostWithPerson else { return false }
            places.withPerson += 1
            return true
        }
        if mayLeave { leave() }
        return mayLeave
    }

    /// Runs what waits for a person. If the thread is one of these, another call has its place meanwhile.
    static func whileWaitingForPerson<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        guard let calls = ofThread.value, calls.leaveForPerson() else {
            return try body()
        }
        // The call goes on at once, so that no question is asked in vain.
        defer {
            calls.places.withLock { places in
                places.atWork += 1
                places.withPerson -= 1
            }
        }
        return try body()
    }

    // MARK: Threads

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.lock()
        defer { condition.unlock() }
        state.jobs.append(job)
        if state.idle >= state.jobs.count { return condition.signal() }
        let start = { () throws(KeychainError) in
            try WorkerThread.startForProgram("keychain call") { [self] in work() }
        }
        // Where the user may have no more threads, those of Dispatch are all that is left.
        if (try? start()) == nil { DispatchQueue.global().async { [self] in work() } }
    }

    private static let ofThread = ThreadLocal<BlockingCalls>()

    private func work() {
        Self.ofThread.value = self
        defer { Self.ofThread.value = nil }
        let executor = asUnownedTaskExecutor()
        while let job = next() { job.runSynchronously(on: executor) }
    }

    /// nil: nothing came for a while, and the thread ends.
    private func next() -> UnownedJob? {
        condition.lock()
        defer { condition.unlock() }
        let end = ContinuousClock.now + Self.patience
        state.idle += 1
        defer { state.idle -= 1 }
        while state.jobs.isEmpty {
            if !condition.wait(until: end) && state.jobs.isEmpty { return nil }
        }
        return state.jobs.removeFirst()
    }
}
