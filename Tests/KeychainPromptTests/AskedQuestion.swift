import Foundation
import KeychainModel
import KeychainPrompt

/// What became of a question.
enum Outcome: Equatable {
    case answer([UInt8])
    /// The fallback was chosen.
    case chosen
    case declined
    case cancelled
    case unavailable
    case timedOut
    case failed

    init(_ failure: PromptFailure) {
        switch failure {
        case .declined: self = .declined
        case .cancelled: self = .cancelled
        case .unavailable: self = .unavailable
        case .timedOut: self = .timedOut
        case .failed: self = .failed
        }
    }

    static func answer(_ text: String) -> Outcome { .answer(Array(text.utf8)) }
}

struct TookTooLong: Error {}

/// A question that is asked on a thread of its own.
final class AskedQuestion: @unchecked Sendable {  // what varies is written before the semaphore and read after it
    let cancellation = Cancellation()
    private let done = DispatchSemaphore(value: 0)
    private var result: (Outcome, String)?

    init(_ prompter: any Prompter, _ question: PromptQuestion = .test) {
        Thread.detachNewThread { [self] in
            result = Self.ask(prompter, question, cancellation)
            done.signal()
        }
    }

    init(_ prompter: any Prompter, showing notice: PromptNotice) {
        Thread.detachNewThread { [self] in
            result = Self.show(prompter, notice, cancellation)
            done.signal()
        }
    }

    /// Waits for it; nothing here takes anywhere near as long as it would wait.
    func outcome() throws -> Outcome {
        guard done.wait(timeout: .now() + 60) == .success, let result else { throw TookTooLong() }
        done.signal()
        return result.0
    }

    static func ask(
        _ prompter: any Prompter, _ question: PromptQuestion = .test, _ cancellation: Cancellation = Cancellation()
    ) -> (Outcome, String) {
        do throws(PromptFailure) {
            let answer = try prompter.ask(question, cancellation)
            return (.answer(answer.withUnsafeBytes { Array($0) }), "")
        } catch {
            return (Outcome(error), "\(error)")
        }
    }

    static func show(
        _ prompter: any Prompter, _ notice: PromptNotice, _ cancellation: Cancellation = Cancellation()
    ) -> (Outcome, String) {
        do throws(PromptFailure) {
            try prompter.show(notice, cancellation)
            return (.chosen, "")
        } catch {
            return (Outcome(error), "\(error)")
        }
    }
}

extension PromptQuestion {
    static var test: PromptQuestion { PromptQuestion(.passcode, reason: "to test", program: "Ada (/usr/bin/ada)") }

    static var new: PromptQuestion {
        PromptQuestion(.newApplicationPassword, reason: "to test", program: "Ada (/usr/bin/ada)")
    }
}

extension PromptNotice {
    static func test(fallback: String? = nil) -> PromptNotice {
        var notice = PromptNotice(reason: "to test", program: "Ada (/usr/bin/ada)", hint: "touch the reader")
        notice.fallbackTitle = fallback
        return notice
    }
}
