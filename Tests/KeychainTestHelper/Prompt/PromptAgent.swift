// A program that asks, for the tests that need a process of their own: with a terminal, signals, descriptors.
//
//   prompt WHO WHAT [COUNT]
//
// WHO is pinentry, terminal or system; WHAT is passcode, new, show or fallback. It asks COUNT times (1) and prints what
// became of the last question: "answer HASH", "chosen", "declined" and so on. It holds an answer until it gets a line on
// standard input. Then it prints "descriptors COUNT COUNT", before the first question and after the last, and "children" if
// any is left. The line "cancel" cancels the question that is asked; "exit" and the end of input call exit(3).

import Foundation
import Glibc
import KeychainModel
import KeychainPrompt

enum PromptAgent {
    static func run(_ words: [String]) throws -> Never {
        guard words.count >= 2, let prompter = prompter(words[0]) else { throw HelperFailure("prompt WHO WHAT") }
        let cancellation = Cancellation()
        let released = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while let line = readLine(), line != "exit" {
                if line == "cancel" { cancellation.cancel() } else { released.signal() }
            }
            exit(0)
        }
        let count: Int = words.count > 2 ? try Arguments.number(words[2]) : 1
        let before = descriptorCount
        for number in 1...count { ask(prompter, words[1], cancellation, number == count ? released : nil) }
        say("descriptors \(before) \(descriptorCount)")
        var status: Int32 = 0
        if waitpid(-1, &status, WNOHANG) != -1 || errno != ECHILD { say("children") }
        while true { pause() }
    }

    private static func prompter(_ name: String) -> (any Prompter)? {
        switch name {
        case "pinentry": PinentryPrompter()
        case "terminal": TerminalPrompter()
        case "system": SystemPrompter()
        default: nil
        }
    }

    private static func ask(
        _ prompter: any Prompter, _ what: String, _ cancellation: Cancellation, _ released: DispatchSemaphore?
    ) {
        do throws(PromptFailure) {
            guard what == "passcode" || what == "new" else {
                var notice = PromptNotice(reason: "to test", program: "agent (/bin/agent)", hint: "touch it")
                if what == "fallback" { notice.fallbackTitle = "Use passcode" }
                try prompter.show(notice, cancellation)
                return say("chosen")
            }
            let wanted = what == "new" ? PromptQuestion.Wanted.newApplicationPassword : .passcode
            let question = PromptQuestion(wanted, reason: "to test", program: "agent (/bin/agent)")
            let answer = try prompter.ask(question, cancellation)
            if let released { hold(answer, released) }
        } catch {
            say("\(error)")
        }
    }

    /// Prints a hash (djb2) of it: the text itself would stay in memory.
    private static func hold(_ answer: SecretBytes, _ released: DispatchSemaphore) {
        say("answer \(answer.withUnsafeBytes { $0.reduce(5381 as UInt32) { $0 &* 33 &+ UInt32($1) } })")
        released.wait()
    }

    private static var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
    }
}
