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
///
/// Set the answers before the call that asks, since that call blocks. The object may be used by several threads.
public final class TestPerson: Sendable {
    /// A question that the person was asked.
    public struct Question: Sendable, Hashable {
        /// The thing that the person was asked for: the keychain's passcode, a program's password for an item, a new
        /// password of that kind, or a finger.
        public enum Wanted: Sendable, Hashable { case passcode, applicationPassword, newApplicationPassword, biometry }
        /// The thing that the person was asked for.
        public let wanted: Wanted
        /// The reason in the program's words. `nil` means that the program gave none.
        public let reason: String?
    }

    fileprivate enum Answer: Sendable {
        case text(String)
        case decline
        /// The person gives no answer until the question is cancelled.
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

    /// The questions so far, in their order. A question that got no answer is among them.
    public var questions: [Question] { state.withLock { $0.questions } }

    /// Types a text at the next question that wants one.
    ///
    /// Answers are used in the order in which they were given. At a question without an answer the call ends with
    /// `KeychainError.Code.interactionNotAllowed`, as on a machine without a person. A wrong passcode is asked for
    /// again, up to three times in a call, so a test of a wrong one gives an answer for each time.
    ///
    /// - Parameter text: The text.
    public func types(_ text: String) { state.withLock { $0.answers.append(.text(text)) } }

    /// Declines the next question. The call ends with `KeychainError.Code.userCancelled`.
    public func declines() { state.withLock { $0.answers.append(.decline) } }

    /// Leaves the next question unanswered until the program cancels it, for tests of cancelled tasks.
    ///
    /// A blocking call that is not cancelled waits forever.
    public func hesitates() { state.withLock { $0.answers.append(.silence) } }

    /// The names of the fingers that are enrolled. Without one, a call that asks for a finger throws
    /// `KeychainError.Code.authenticationFailed`.
    ///
    /// Changing the names changes the enrolled set, so that items for the current set are not found any more.
    public var enrolledFingers: Set<String> {
        get { state.withLock { $0.fingers } }
        set { state.withLock { $0.fingers = newValue } }
    }

    /// Touches the reader with a finger when it next waits.
    ///
    /// Without a call of this, an enrolled finger touches it. After five fingers in a row that are not enrolled the
    /// reader is locked out until the passcode is typed.
    ///
    /// - Parameter finger: A name. A name that is not in ``enrolledFingers`` is a wrong finger.
    public func touches(with finger: String) { state.withLock { $0.touches.append(finger) } }
}

extension TestPerson {
    /// The prompter that asks the person.
    var mouth: any Prompter { ScriptedMouth(person: self) }
    /// The reader that reads the person's fingers.
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
