internal import Dispatch
internal import Foundation
package import KeychainModel
internal import Synchronization

/// Answers questions as a test says, and remembers them.
package final class ScriptedPrompter: Prompter {
    package enum Answer: Sendable {
        case text(String)
        case fail(PromptFailure)
        /// Only when the question is cancelled, and then too late.
        case late(String)
    }

    private struct State {
        var answers: [Answer] = []
        var questions: [PromptQuestion] = []
        var notices: [PromptNotice] = []
        var noticeAnswer: PromptFailure? = .unavailable("nothing is shown in this test")
    }

    private let state = Mutex(State())

    package init(_ answers: Answer...) { state.withLock { $0.answers = answers } }

    package func answer(_ answers: Answer...) { state.withLock { $0.answers += answers } }

    /// What the person does about a notice: nil: chooses the fallback.
    package func answerNotices(with failure: PromptFailure?) { state.withLock { $0.noticeAnswer = failure } }

    package var questions: [PromptQuestion] { state.withLock { $0.questions } }
    package var notices: [PromptNotice] { state.withLock { $0.notices } }

    package func ask(_ question: PromptQuestion, _ cancellation: Cancellation) throws(PromptFailure) -> SecretBytes {
        let answer = state.withLock { state -> Answer in
            state.questions.append(question)
            return state.answers.isEmpty ? .fail(.unavailable("no answer is left")) : state.answers.removeFirst()
        }
        switch answer {
        case .text(let text): return .of(text)
        case .fail(let failure): throw failure
        case .late(let text):
            let isOver = TestGate()
            cancellation.withHandler({ isOver.open() }) { isOver.wait() }
            return .of(text)
        }
    }

    package func show(_ notice: PromptNotice, _ cancellation: Cancellation) throws(PromptFailure) {
        let answer = state.withLock { state -> PromptFailure? in
            state.notices.append(notice)
            return state.noticeAnswer
        }
        if let answer { throw answer }
    }
}

/// Opened once, by whichever thread.
final class TestGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func open() { semaphore.signal() }
    func wait() { semaphore.wait() }
}
