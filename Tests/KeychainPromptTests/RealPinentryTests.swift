import Foundation
import Glibc
import Testing

/// GnuPG's own programs, each at a terminal of its own.
@Suite struct RealPinentryTests {
    private static let programs = ["/usr/bin/pinentry-tty", "/usr/bin/pinentry-curses"]
    private static let areThere = programs.allSatisfy { access($0, X_OK) == 0 }

    private func start(_ program: String, _ what: String) throws -> (PromptAgent, PseudoTerminal) {
        let terminal = try PseudoTerminal()
        let agent = try PromptAgent("pinentry", what, at: terminal, environment: ["KEYCHAIN_PINENTRY": program])
        return (agent, terminal)
    }

    private func finish(_ agent: PromptAgent, _ terminal: PseudoTerminal) throws {
        #expect(try agent.finish() == 0)
        #expect(terminal.isUsual)
    }

    @Test("They ask for what is wanted, say who asks, and give the answer", .enabled(if: areThere), arguments: programs)
    func answer(program: String) throws {
        let (agent, terminal) = try start(program, "passcode")
        try terminal.await("Passcode:")
        try terminal.type("sécret%25\r")
        #expect(try agent.readLine() == PromptAgent.line("sécret%25"))
        terminal.readRest()
        #expect(terminal.screen.contains("/bin/agent"))
        #expect(!terminal.screen.contains("cret"))
        try finish(agent, terminal)
    }

    @Test("They have a new password typed twice", .enabled(if: areThere), arguments: programs)
    func new(program: String) throws {
        let (agent, terminal) = try start(program, "new")
        try terminal.await("New password:")
        try terminal.type("secret\r")
        try terminal.await("again:")
        try terminal.type("secret\r")
        #expect(try agent.readLine() == PromptAgent.line("secret"))
        try finish(agent, terminal)
    }

    @Test("A question that is cancelled leaves the terminal as it was", .enabled(if: areThere), arguments: programs)
    func cancelled(program: String) throws {
        let (agent, terminal) = try start(program, "passcode")
        try terminal.await("Passcode:")
        try agent.say("cancel")
        #expect(try agent.readLine() == "cancelled")
        try finish(agent, terminal)
    }
}
