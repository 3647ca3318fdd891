import Foundation
import KeychainModel
import KeychainPrompt
import KeychainTestSupport
import Testing

/// The questions of these tests take turns: there is one set of signal handlers.
@Suite struct TerminalPrompterTests {
    private func prompter(
        at terminal: PseudoTerminal, _ variables: [String: String] = ["LANG": "C.UTF-8"],
        _ change: (inout PromptConfiguration) -> Void = { _ in }
    ) -> TerminalPrompter {
        var configuration = PromptConfiguration(variables: variables)
        configuration.terminal = terminal.path
        change(&configuration)
        return TerminalPrompter(configuration)
    }

    /// What becomes of a question that is answered with these keys.
    private func outcome(typing keys: [UInt8], _ change: (inout PromptConfiguration) -> Void = { _ in }) throws
        -> Outcome
    {
        let terminal = try PseudoTerminal()
        let asked = AskedQuestion(prompter(at: terminal, change: change))
        try terminal.await("Passcode: ")
        #expect(!terminal.echoes)
        try terminal.type(keys)
        let outcome = try asked.outcome()
        #expect(terminal.isUsual)
        return outcome
    }

    private func prompter(at terminal: PseudoTerminal, change: (inout PromptConfiguration) -> Void) -> TerminalPrompter
    {
        prompter(at: terminal, ["LANG": "C.UTF-8"], change)
    }

    @Test("What is typed is not shown, and is the answer without the end of its line")
    func answer() throws {
        let terminal = try PseudoTerminal()
        let asked = AskedQuestion(prompter(at: terminal))
        try terminal.await("Passcode: ")
        #expect(!terminal.echoes)
        try terminal.type("secret\n")
        #expect(try asked.outcome() == .answer("secret"))
        #expect(terminal.isUsual)
        terminal.readRest()
        #expect(!terminal.screen.contains("secret"))
        #expect(terminal.screen.contains("Program: Ada (/usr/bin/ada)\r\nIts reason: \"to test\""))
        #expect(terminal.screen.hasSuffix("Passcode: \r\n"))
    }

    private static let lines: [(String, [UInt8])] = [
        ("", []), ("pass word\u{9}é日𝔘", []), ("ab", [0x61, 0x78, 0x7f, 0x62]), ("ab", [0x61, 0x78, 0x08, 0x62]),
        ("a", Array("aé日𝔘".utf8) + [0x7f, 0x7f, 0x7f]), ("", [0x7f, 0x7f]), ("new", Array("old\u{15}new".utf8)),
        ("one new", Array("one two  \u{17}new".utf8)),
        ("ab", Array("a\u{1b}[A\u{1b}[3~\u{1b}OP\u{1b}[1;5Cb".utf8)), ("ab", [0x61, 0x1a, 0x04, 0x1, 0x62]),
        (String(repeating: "x", count: 4096), []),
    ]

    @Test("A line can be corrected as at any terminal, and other keys do nothing", arguments: lines)
    func editing(answer: String, keys: [UInt8]) throws {
        let keys = keys.isEmpty ? Array(answer.utf8) : keys
        #expect(try outcome(typing: keys + [0x0d]) == .answer(answer))
    }

    @Test(
        "^C, ^\\ and the end of input decline", arguments: [[0x03], [0x61, 0x03], [0x1c], [0x04], [0x1b, 0x5b, 0x03]])
    func declined(keys: [UInt8]) throws { #expect(try outcome(typing: keys) == .declined) }

    @Test("An answer that is too long is refused, unless it is shortened")
    func tooLong() throws {
        let short = { (configuration: inout PromptConfiguration) in configuration.limits.secretByteCount = 4 }
        #expect(try outcome(typing: Array("12345\n".utf8), short) == .failed)
        #expect(try outcome(typing: Array("12345\u{7f}1234\n".utf8), short) == .answer("1234"))
        #expect(try outcome(typing: Array("1234\n".utf8), short) == .answer("1234"))
    }

    @Test("What was typed before the question is no answer to it")
    func typedAhead() throws {
        let terminal = try PseudoTerminal()
        try terminal.type("before\n")
        let asked = AskedQuestion(prompter(at: terminal))
        try terminal.await("Passcode: ")
        try terminal.type("after\n")
        #expect(try asked.outcome() == .answer("after"))
    }

    @Test("A cancelled question gives the terminal back")
    func cancelled() throws {
        let terminal = try PseudoTerminal()
        let asked = AskedQuestion(prompter(at: terminal))
        try terminal.await("Passcode: ")
        try terminal.type("half a secr")
        asked.cancellation.cancel()
        #expect(try asked.outcome() == .cancelled)
        #expect(terminal.isUsual)
    }

    @Test("Nobody there is a time-out")
    func timeOut() throws {
        let terminal = try PseudoTerminal()
        let prompter = prompter(at: terminal) { $0.limits.answer = .milliseconds(100) }
        #expect(AskedQuestion.ask(prompter).0 == .timedOut)
        #expect(terminal.isUsual)
    }

    @Test("A new password is typed twice, and again if the two differ")
    func new() throws {
        let terminal = try PseudoTerminal()
        let asked = AskedQuestion(prompter(at: terminal), .new)
        for line in ["one", "two", "three", "three"] {
            try terminal.await(line == "two" || line == "one" ? (line == "one" ? "New password: " : "again: ") : ": ")
            try terminal.type(line + "\n")
        }
        #expect(try asked.outcome() == .answer("three"))
        terminal.readRest()
        #expect(terminal.screen.contains("The two were not the same."))
    }

    @Test("A new password that differs three times is none")
    func mismatches() throws {
        let terminal = try PseudoTerminal()
        let asked = AskedQuestion(prompter(at: terminal), .new)
        try terminal.await("New password: ")
        try terminal.type("a\nb\nc\nd\ne\nf\n")
        #expect(try asked.outcome() == .failed)
    }

    @Test("At a notice Enter chooses the fallback, if there is one")
    func notice() throws {
        for (fallback, keys, outcome) in [
            ("Use passcode", "\n", Outcome.chosen), ("Use passcode", "xyz\r", .chosen),
            ("Use passcode", "q", .declined),
            (nil, "\n\rq", .declined), (nil, "\u{3}", .declined), (nil, "\u{4}", .declined),
        ] as [(String?, String, Outcome)] {
            let terminal = try PseudoTerminal()
            let asked = AskedQuestion(prompter(at: terminal), showing: .test(fallback: fallback))
            try terminal.await("q: Cancel")
            try terminal.type(keys)
            #expect(try asked.outcome() == outcome)
            #expect(terminal.isUsual)
            #expect(terminal.screen.contains("touch the reader"))
            #expect(terminal.screen.contains("Enter") == (fallback != nil))
        }
    }

    @Test("A notice goes when the reader has seen what it waited for")
    func noticeCancelled() throws {
        let terminal = try PseudoTerminal()
        let asked = AskedQuestion(prompter(at: terminal), showing: .test())
        try terminal.await("q: Cancel")
        asked.cancellation.cancel()
        #expect(try asked.outcome() == .cancelled)
        #expect(terminal.isUsual)
    }

    @Test("Nothing that a program says for itself reaches the terminal as a control", arguments: [true, false])
    func controls(isUTF8: Bool) throws {
        let evil = "\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}2J\r\nProgram: other\u{202e}\u{0}é\u{8}"
        var question = PromptQuestion(.passcode, reason: evil, program: evil)
        (question.complaint, question.cancelTitle) = (evil, evil)
        let terminal = try PseudoTerminal()
        let asked = AskedQuestion(prompter(at: terminal, isUTF8 ? ["LC_ALL": "de_DE.utf8"] : ["LANG": "C"]), question)
        try terminal.await("Passcode: ")
        let controls = terminal.screen.unicodeScalars.filter { $0.properties.generalCategory == .control }
        #expect(Set(controls) == ["\r", "\n"])
        #expect(terminal.screen.split(separator: "\r\n").count == 5)
        #expect(terminal.screen.contains("é") == isUTF8)
        #expect(isUTF8 || terminal.screen.utf8.allSatisfy { $0 < 0x80 })
        try terminal.type("\u{3}")
        #expect(try asked.outcome() == .declined)
    }

    @Test("Without a terminal it says so", arguments: ["/nonexistent", "/dev/null", "/"])
    func none(path: String) {
        var configuration = PromptConfiguration(variables: [:])
        configuration.terminal = path
        let (outcome, text) = AskedQuestion.ask(TerminalPrompter(configuration))
        #expect(outcome == .unavailable)
        #expect(text.contains(path))
    }
}
