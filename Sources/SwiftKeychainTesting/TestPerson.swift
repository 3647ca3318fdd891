internal import Foundation
internal import KeychainModel
internal import SwiftKeychain
internal import Synchronization

/// The person in front of a test's keychain, who answers as the test says.
///
/// ```swift
/// test.person.types("1234")
/// #expect(try bank.string(for: "pin") == "4711")
/// #expect(test.person.questions.map(\.reason) == ["to pay the bill"])
/// ```
public final class TestPerson: Sendable {
    /// What was asked.
    public struct Question: Sendable, Hashable {
        /// What the person was to type, or to touch.
        public enum Wanted: Sendable, Hashable { case passcode, applicationPassword, newApplicationPassword, biometry }
        public let wanted: Wanted
        /// Why, in the program's words; nil: it said nothing.
        public let reason: String?
    }

    fileprivate enum Answer: Sendable {
        case text(String)
        case decline
        /// Until the question is cancelled.
        case silence
    }

    fileprivate struct State {
        var answers: [Answer] = []
        var questions: [Question] = []
        var fingers: Set<String> = []
        var touches: [String] = []
    }

    fileprivate let state = Mutex(State())

    init() {}

    /// Everything that was asked so far.
    public var questions: [Question] { state.withLock { $0.questions } }

    /// Answers the next question that wants something typed. Answers are used in the order in which they were given; where
    /// none is left, there is nobody: the call ends with `KeychainError.Code.interactionNotAllowed`.
    public func types(_ text: String) { state.withLock { $0.answers.append(.text(text)) } }

    /// Declines the next question: the call ends with `KeychainError.Code.userCancelled`.
    public func declines() { state.withLock { $0.answers.append(.decline) } }

    /// Leaves the next question alone, until the program cancels it.
    public func hesitates() { state.withLock { $0.answers.append(.silence) } }

    /// The fingers that are enrolled. None at first: what asks for one fails.
    public var enrolledFingers: Set<String> {
        get { state.withLock { $0.fingers } }
        set { state.withLock { $0.fingers = newValue } }
    }

    /// Touches the reader when it waits the next time, with one of ``enrolledFingers`` or another one. Where no touch is left,
    /// the first of those that are enrolled touches it.
    public func touches(with finger: String) { state.withLock { $0.touches.append(finger) } }
}

extension TestPerson {
    /// Asks the person.
    var mouth: any Prompter { ScriptedMouth(person: self) }
    /// Reads the person's fingers.
    var hand: any BiometryProvider { ScriptedHand(person: self) }
}

private final class ScriptedMouth: Prompter {
    private let person: TestPerson

    init(person: TestPerson) { self.person = person }

    func ask(_ question: PromptQuestion, _ cancellation: Cancellation) throws(PromptFailure) -> SecretBytes {
        let answer = person.state.withLock { state -> TestPerson.Answer? in
            state.questions.append(TestPerson.Question(wanted: .init(question.wanted), reason: question.reason))
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        switch answer {
        case .text(let text): return SecretBytes(copying: Data(text.utf8))
        case .decline: throw .declined
        case .silence:
            let isOver = NSCondition()
            let isCancelled = Mutex(false)
            cancellation.withHandler {
                isCancelled.withLock { $0 = true }
                isOver.lock()
                isOver.broadcast()
                isOver.unlock()
            } _: {
                isOver.lock()
                while !isCancelled.withLock({ $0 }) { isOver.wait() }
                isOver.unlock()
            }
            throw .cancelled
        case nil: throw .unavailable("the test's person has no answer left")
        }
    }

    func show(_ notice: PromptNotice, _: Cancellation) throws(PromptFailure) {
        person.state.withLock { $0.questions.append(TestPerson.Question(wanted: .biometry, reason: notice.reason)) }
        throw .unavailable("a test shows nothing")
    }
}

extension TestPerson.Question.Wanted {
    fileprivate init(_ wanted: PromptQuestion.Wanted) {
        self =
            switch wanted {
            case .passcode: .passcode
            case .applicationPassword: .applicationPassword
            case .newApplicationPassword: .newApplicationPassword
            }
    }
}

private final class ScriptedHand: BiometryProvider {
    private let person: TestPerson

    init(person: TestPerson) { self.person = person }

    var kind: KeychainBiometry.Kind { .fingerprint }

    func enrolledSet() -> Data? {
        let fingers = person.enrolledFingers
        return fingers.isEmpty ? nil : Data(fingers.sorted().joined(separator: "\n").utf8)
    }

    func verify(_: BiometryAttempt) -> Bool {
        person.state.withLock { state in
            guard !state.touches.isEmpty else { return !state.fingers.isEmpty }
            return state.fingers.contains(state.touches.removeFirst())
        }
    }
}
