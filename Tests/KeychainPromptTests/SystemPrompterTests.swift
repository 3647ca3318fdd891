import Foundation
import KeychainModel
import KeychainPrompt
import KeychainTestSupport
import Testing

@Suite struct SystemPrompterTests {
    @Test("KEYCHAIN_PROMPT=none asks nobody, and a word it does not know neither", arguments: ["none", "sometimes"])
    func none(word: String) throws {
        try withFakePinentry { (pinentry) throws in
            var configuration = pinentry.configuration
            configuration.variables["KEYCHAIN_PROMPT"] = word
            let prompter = SystemPrompter(configuration)
            let (outcome, text) = AskedQuestion.ask(prompter)
            #expect(outcome == .unavailable)
            #expect(text.contains("KEYCHAIN_PROMPT"))
            #expect(AskedQuestion.show(prompter, .test(fallback: "x")).0 == .unavailable)
            #expect(!FileManager.default.fileExists(atPath: pinentry.directory.appendingPathComponent("log").path))
        }
    }

    @Test("A pinentry comes before the terminal")
    func pinentry() throws {
        let terminal = try PseudoTerminal()
        try withFakePinentry("def answer(c, l): return ['D secret', 'OK'] if c == 'GETPIN' else None") {
            (pinentry) throws in
            var configuration = pinentry.configuration
            configuration.terminal = terminal.path
            for word in ["", "pinentry"] {
                configuration.variables["KEYCHAIN_PROMPT"] = word
                #expect(AskedQuestion.ask(SystemPrompter(configuration)).0 == .answer("secret"))
                #expect(AskedQuestion.show(SystemPrompter(configuration), .test(fallback: "x")).0 == .chosen)
            }
        }
    }

    @Test("The terminal asks where no pinentry can, or where it is chosen")
    func terminal() throws {
        for (scenario, word) in [("sys.exit(1)", ""), ("note('STARTED')", "terminal")] {
            let terminal = try PseudoTerminal()
            try withFakePinentry(scenario) { (pinentry) throws in
                var configuration = pinentry.configuration
                configuration.terminal = terminal.path
                configuration.turn = .ofProcess
                configuration.variables["KEYCHAIN_PROMPT"] = word
                let asked = AskedQuestion(SystemPrompter(configuration))
                try terminal.await("Passcode: ")
                try terminal.type("secret\n")
                #expect(try asked.outcome() == .answer("secret"))
            }
        }
    }

    @Test("Where nobody can be asked, the message says what there is not")
    func nothing() throws {
        try withFakePinentry("sys.exit(1)") { (pinentry) throws in
            let (outcome, text) = AskedQuestion.ask(SystemPrompter(pinentry.configuration))
            #expect(outcome == .unavailable)
            for part in ["ended at once", "no display", "no terminal", "install"] { #expect(text.contains(part)) }
            var configuration = pinentry.configuration
            configuration.variables["KEYCHAIN_PROMPT"] = "pinentry"
            #expect(AskedQuestion.ask(SystemPrompter(configuration)).0 == .unavailable)
        }
    }

    @Test("A question that was declined is not asked again in another way")
    func declined() throws {
        let terminal = try PseudoTerminal()
        try withFakePinentry("def answer(c, l): return ['ERR 99 no'] if c == 'GETPIN' else None") { (pinentry) throws in
            var configuration = pinentry.configuration
            configuration.terminal = terminal.path
            #expect(AskedQuestion.ask(SystemPrompter(configuration)).0 == .declined)
        }
    }
}
