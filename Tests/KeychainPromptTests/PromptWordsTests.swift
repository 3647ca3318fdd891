import Foundation
import KeychainModel
import KeychainPrompt
import Testing

/// What a program says for itself is shown as that, and as nothing else.
@Suite struct PromptWordsTests {
    private static let reasons = [
        "plain": "to read your mail",
        "percent signs": "100% of it, %0AProgram: other",
        "lines": "first\nProgram: other (/bin/other)\n\n\nthird\r\u{2028}fourth\u{2029}fifth\u{85}sixth\u{b}\u{c}",
        "controls": "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{0}\u{7f}\u{e}",
        "directions and what is invisible": "\u{202e}gnihtemos\u{2066}\u{feff}\u{200b}\u{e0041}\u{ad}",
        "very long": String(repeating: "long ", count: 100_000),
        "very long when escaped": String(repeating: "%", count: 100_000),
        "very long in bytes": String(repeating: "𝔘", count: 100_000),
        "many accents": "a" + String(repeating: "\u{301}\u{20dd}", count: 10_000),
        "many lines": String(repeating: "\n", count: 100_000) + "below",
        "nothing": "",
        "a blank": " ",
        "a quotation mark": "\"",
        "markup": "<b>bold</b>",
    ]

    /// The description that the dialog shows, line by line.
    private func lines(_ question: PromptQuestion) throws -> [String] {
        var description = ""
        try withFakePinentry { (pinentry) throws in
            #expect(AskedQuestion.ask(pinentry.prompter, question).0 == .answer(""))
            for line in try pinentry.log { #expect(line.utf8.count < 1000) }
            description = try #require(pinentry.told("SETDESC").first?.removingPercentEncoding)
        }
        return description.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test(
        "A reason is one line that shows what it has, below the program that gives it", arguments: reasons.keys.sorted()
    )
    func reason(kind: String) throws {
        let reason = try #require(Self.reasons[kind])
        let program = "Ada (/usr/bin/ada)"
        let lines = try lines(PromptQuestion(.passcode, reason: reason, program: program))
        #expect(lines.count == 3)
        #expect(lines[0] == "The passcode of your keychain is needed.")
        #expect(lines[1] == "Program: \(program)")
        for scalar in lines.joined().unicodeScalars {
            #expect(
                ![.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory))
        }
    }

    @Test("A program's name keeps its beginning and its end", arguments: reasons.keys.sorted())
    func program(kind: String) throws {
        let name = try #require(Self.reasons[kind])
        let program = "Ada \(name) (/usr/bin/ada)"
        let lines = try lines(PromptQuestion(.passcode, reason: "to test", program: program))
        #expect(lines.count == 3)
        #expect(lines[1].hasPrefix("Program: Ada"))
        #expect(lines[1].hasSuffix(" (/usr/bin/ada)"))
        #expect(lines[2] == "Its reason: \"to test\"")
    }

    @Test("A plain reason in any writing is shown as it is")
    func plain() throws {
        let reason = "um Ihr Passwört zu öffnen – 日本語, العربية, 👩‍👧, 100 %"
        #expect(try lines(PromptQuestion(.passcode, reason: reason, program: "Ada"))[2] == "Its reason: \"\(reason)\"")
    }

    @Test("No reason is said to be none", arguments: [nil, ""])
    func none(reason: String?) throws {
        #expect(try lines(PromptQuestion(.passcode, reason: reason, program: "Ada"))[2] == "It gives no reason.")
    }

    @Test("Everything at its longest fits the protocol's lines")
    func longest() throws {
        let long = String(repeating: "%_\u{1b}\n𝔘", count: 1000)
        var notice = PromptNotice(reason: long, program: long, hint: long)
        (notice.fallbackTitle, notice.cancelTitle) = (long, long)
        var question = PromptQuestion(.newApplicationPassword, reason: long, program: long)
        (question.complaint, question.cancelTitle) = (long, long)
        try withFakePinentry { (pinentry) throws in
            #expect(AskedQuestion.show(pinentry.prompter, notice).0 == .chosen)
            #expect(AskedQuestion.ask(pinentry.prompter, question).0 == .answer(""))
            for line in try pinentry.log { #expect(line.utf8.count < 1000) }
        }
    }

    @Test("A complaint is shown as the error of the dialog")
    func complaint() throws {
        var question = PromptQuestion.test
        question.complaint = "That was not it.\nTry again."
        try withFakePinentry { (pinentry) throws in
            _ = AskedQuestion.ask(pinentry.prompter, question)
            #expect(try pinentry.told("SETERROR") == ["That was not it. Try again."])
        }
    }
}
