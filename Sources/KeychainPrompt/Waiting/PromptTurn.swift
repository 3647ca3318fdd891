internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Whose turn it is to ask: two questions at once would be typed into one another.
///
/// First come, first served.
package final class PromptTurn: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [EventDescriptor] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// The turn that all questions of this process share.
    package static let ofProcess = PromptTurn()

    /// Runs `body` when it is this question's turn.
    ///
    /// - Parameter body: Waits with its argument: the cancellation ends that wait.
    /// - Throws: `.cancelled` also if the cancellation comes while others have their turn.
    func perform<R>(
        _ cancellation: Cancellation, _ body: (Wait) throws(PromptFailure) -> R
    ) throws(PromptFailure) -> R {
        let wait = Wait(wake: try EventDescriptor.make())
        return try cancellation.withHandler({ [wake = wait.wake] in wake.set() }) { () throws(PromptFailure) -> R in
            try take(wait)
            defer { giveBack() }
            if cancellation.isCancelled { throw .cancelled }
            let result = try body(wait)
            // A program that cancelled counts on there being no answer.
            if cancellation.isCancelled { throw .cancelled }
            return result
        }
    }

    private func take(_ wait: Wait) throws(PromptFailure) {
        let granted = try EventDescriptor.make()
        let mustWait = state.withLock { state in
            if state.isTaken { state.waiting.append(granted) }
            defer { state.isTaken = true }
            return state.isTaken
        }
        guard mustWait else { return }
        do throws(WaitFailure) {
            try wait.for(granted.number, POLLIN, until: nil)
        } catch {
            withdraw(granted)
            switch error {
            case .cancelled, .timedOut: throw .cancelled
            case .system(let code): throw .failed("cannot wait: \(String(cString: strerror(code)))")
            }
        }
    }

    /// Leaves the queue; if the turn came meanwhile, the next in it has it.
    private func withdraw(_ granted: EventDescriptor) {
        let wasWaiting = state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0 === granted }) else { return false }
            state.waiting.remove(at: place)
            return true
        }
        if !wasWaiting { giveBack() }
    }

    private func giveBack() {
        let next = state.withLock { state -> EventDescriptor? in
            if state.waiting.isEmpty {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.set()
    }

    package var waitingCount: Int { state.withLock { $0.waiting.count } }
}

extension EventDescriptor {
    fileprivate static func make() throws(PromptFailure) -> EventDescriptor {
        do throws(SystemError) { return try EventDescriptor() } catch { throw .failed(error.message) }
    }
}
