import Foundation
import Glibc
import KeychainTestSupport
import Testing

/// What only shows in a process of its own: its signals, descriptors, children and memory.
@Suite struct ProcessTests {
    private static let answering = """
        #!/bin/sh
        echo OK
        while read -r line; do
            case "$line" in GETPIN) echo "D hushNeedle%31234"; echo OK ;; BYE) exit ;; *) echo OK ;; esac
        done
        """

    private func withAnsweringPinentry(_ body: ([String: String]) throws -> Void) throws {
        try withTemporaryDirectory { (directory) throws in
            let file = directory.appendingPathComponent("pinentry")
            try Data(Self.answering.utf8).write(to: file)
            chmod(file.path, 0o755)
            try body(["KEYCHAIN_PINENTRY": file.path])
        }
    }

    @Test("A hundred questions leave no descriptor open and no child behind")
    func hundred() throws {
        try withAnsweringPinentry { (environment) throws in
            let agent = try PromptAgent("pinentry", "passcode", "100", environment: environment)
            #expect(try agent.readLine() == PromptAgent.line("hushNeedle1234"))
            try agent.say("go on")
            let words = try agent.readLine().split(separator: " ")
            #expect(words.count == 3 && words.first == "descriptors")
            #expect(words[1] == words[2])
            #expect(try agent.finish() == 0)
        }
    }

    @Test("An answer is in memory as long as it is used, and no longer", arguments: ["pinentry", "terminal"])
    func memory(who: String) throws {
        try withAnsweringPinentry { (environment) throws in
            let terminal = try PseudoTerminal()
            let agent = try PromptAgent(who, "passcode", at: terminal, environment: environment)
            if who == "terminal" {
                try terminal.await("Passcode: ")
                try terminal.type("hushNeedle1234\n")
            }
            #expect(try agent.readLine() == PromptAgent.line("hushNeedle1234"))
            #expect(try agent.memoryContains("hushNeedle1234"))
            #expect(try agent.memoryContains("hushNeedle%3") == false)
            try agent.say("go on")
            #expect(try agent.readLine().hasPrefix("descriptors"))
            #expect(try agent.memoryContains("hushNeedle") == false)
            #expect(try agent.finish() == 0)
        }
    }

    @Test(
        "A signal that ends the program gives the terminal back first", arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT])
    func signal(number: Int32) throws {
        let terminal = try PseudoTerminal()
        let agent = try PromptAgent("terminal", "passcode", at: terminal)
        try terminal.await("Passcode: ")
        #expect(!terminal.echoes)
        kill(agent.pid, number)
        #expect(try agent.end() == -number)
        #expect(terminal.isUsual)
    }

    @Test("A signal after the question does what it did before it")
    func signalAfterwards() throws {
        let terminal = try PseudoTerminal()
        let agent = try PromptAgent("terminal", "passcode", at: terminal)
        try terminal.await("Passcode: ")
        try terminal.type("secret\n")
        #expect(try agent.readLine() == PromptAgent.line("secret"))
        #expect(terminal.isUsual)
        kill(agent.pid, SIGTERM)
        #expect(try agent.end() == -SIGTERM)
    }

    @Test("A signal that the program ignores stays ignored")
    func ignoredSignal() throws {
        let terminal = try PseudoTerminal()
        let agent = try PromptAgent(
            "terminal", "passcode", through: ["/bin/sh", "-c", "trap '' HUP; exec \"$0\" \"$@\""], at: terminal)
        try terminal.await("Passcode: ")
        kill(agent.pid, SIGHUP)
        try terminal.type("secret\n")
        #expect(try agent.readLine() == PromptAgent.line("secret"))
        try agent.say("go on")
        #expect(try agent.finish() == 0)
    }

    @Test("exit(3) during a question gives the terminal back")
    func exitMeanwhile() throws {
        let terminal = try PseudoTerminal()
        let agent = try PromptAgent("terminal", "passcode", at: terminal)
        try terminal.await("Passcode: ")
        #expect(try agent.finish() == 0)
        #expect(terminal.isUsual)
    }

    @Test("^C at the terminal of the program declines and does not end it")
    func interrupt() throws {
        let terminal = try PseudoTerminal()
        let agent = try PromptAgent("terminal", "passcode", at: terminal)
        try terminal.await("Passcode: ")
        try terminal.type("\u{3}")
        #expect(try agent.readLine() == "declined")
        #expect(try agent.finish() == 0)
    }

    @Test("A program in the background of its terminal does not ask there", arguments: ["terminal", "pinentry"])
    func background(who: String) throws {
        let terminal = try PseudoTerminal()
        let shell = ["/bin/sh", "-c", "set -m; \"$0\" \"$@\" & wait"]
        let agent = try PromptAgent(who, "passcode", through: shell, at: terminal)
        #expect(try agent.readLine().hasPrefix("unavailable"))
        #expect(try agent.finish() == 0)
    }

    @Test("Without a session there is no terminal, and the message says so")
    func noTerminal() throws {
        let agent = try PromptAgent("system", "passcode")
        let line = try agent.readLine()
        #expect(line.hasPrefix("unavailable") && line.contains("/dev/tty"))
        #expect(try agent.finish() == 0)
    }
}
