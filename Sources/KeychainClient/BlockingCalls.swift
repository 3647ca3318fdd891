internal import Foundation

/// Threads for calls that block, so that those which run tasks are never blocked by them.
///
/// Not Dispatch's: when its threads are blocked it adds one more each second.
package final class BlockingCalls: TaskExecutor {
    static let shared = BlockingCalls()

    /// The number of calls that are served at once over a socket (``SocketCarrier``). A further call waits for a
    /// thread, which needs no task to go on.
    private static let mostThreads = 16
    /// After this time without work a thread ends.
    private static let patience: TimeInterval = 5

    private struct State {
        var jobs: [UnownedJob] = []
        var threads = 0
        var idle = 0
    }

    private let condition = NSCondition()
    private nonisolated(unsafe) var state = State()  // behind the condition

    /// Runs what blocks on a thread of its own kind.
    package static func run<R: Sendable, E: Error>(
        _ body: @escaping @Sendable () throws(E) -> R
    ) async throws(E) -> R {
        let result = await withTaskExecutorPreference(shared) { await attempt(body) }
        return try result.get()
    }

    /// Non-isolated, so that it runs where the preference says.
    private static func attempt<R: Sendable, E: Error>(_ body: @Sendable () throws(E) -> R) async -> Result<R, E> {
        do throws(E) { return .success(try body()) } catch { return .failure(error) }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.lock()
        defer { condition.unlock() }
        state.jobs.append(job)
        if state.idle >= state.jobs.count { return condition.signal() }
        guard state.threads < Self.mostThreads else { return }
        state.threads += 1
        let thread = Thread { [self] in work() }
        thread.name = "keychain call"
        thread.start()
    }

    private func work() {
        let executor = asUnownedTaskExecutor()
        while let job = next() { job.runSynchronously(on: executor) }
    }

    /// nil: nothing came for a while, and the thread ends.
    private func next() -> UnownedJob? {
        condition.lock()
        defer { condition.unlock() }
        let end = Date(timeIntervalSinceNow: Self.patience)
        state.idle += 1
        defer { state.idle -= 1 }
        while state.jobs.isEmpty {
            if !condition.wait(until: end) && state.jobs.isEmpty {
                state.threads -= 1
                return nil
            }
        }
        return state.jobs.removeFirst()
    }
}
