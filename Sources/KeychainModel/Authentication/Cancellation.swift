internal import Synchronization

/// Ends a question to a person from another thread: the asking program has changed its mind, or has the answer from
/// somewhere else.
package final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        var nextNumber = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels, once and for all. Returns when every handler has run.
    package func cancel() {
        let handlers = state.withLock { state -> [@Sendable () -> Void] in
            defer { (state.isCancelled, state.handlers) = (true, [:]) }
            return Array(state.handlers.values)
        }
        for handler in handlers { handler() }
    }

    /// Runs `body`; if this is cancelled before or meanwhile, `handler` is called once, on any thread. The handler
    /// wakes the wait of `body`, and must not block.
    package func withHandler<R, E: Error>(
        _ handler: @escaping @Sendable () -> Void, _ body: () throws(E) -> R
    ) throws(E) -> R {
        let number = state.withLock { state -> Int? in
            if state.isCancelled { return nil }
            state.nextNumber += 1
            state.handlers[state.nextNumber] = handler
            return state.nextNumber
        }
        guard let number else {
            handler()
            return try body()
        }
        defer { _ = state.withLock { $0.handlers.removeValue(forKey: number) } }
        return try body()
    }
}
