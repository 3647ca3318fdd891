import Foundation
import Testing

@testable import KeychainTool

@Suite struct DemoTests {
    @Test("The demo is as told, leaves nothing behind, and uses no store of the user")
    func demo() throws {
        try withTool { (tool) throws in
            let outcome = try tool.run("demo", "--full")
            #expect(outcome.status == 0, "\(outcome.text)")
            #expect(outcome.errors.isEmpty)
            #expect(!outcome.text.contains("NOT AS TOLD"))
            // Duplicate, not found, locked, wrong passcode, damaged.
            for status in [45, 44, 36, 51, 93] { #expect(outcome.text.contains("→ status \(status)\n")) }
            #expect(outcome.text.contains("        keychainctl: the keychain is locked; run 'keychainctl unlock'\n"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.environment["TMPDIR"]!).isEmpty)
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test("In short the demo has a mark for every step, and no line is wider than the terminal")
    func short() throws {
        try withTool { (tool) throws in
            let session = try TerminalSession(tool, words: ["demo"], showsOutput: true, columns: 60)
            #expect(try session.end() == 0)
            let marked = session.lines.count { $0.hasPrefix("  \u{1b}[32m✓\u{1b}[m ") }
            #expect(marked == DemoStep.all.count)
            let texts = session.lines.filter { !$0.contains("/") }.map { $0.replacing(#/\x1b\[[0-9]*m/#, with: "") }
            #expect(texts.dropFirst(2).allSatisfy { $0.count <= 60 || !$0.hasPrefix("  ") })
        }
    }

    @Test("A script gets every step with its line, its status and its output")
    func json() throws {
        try withTool { (tool) throws in
            let outcome = try tool.run("demo", "--json")
            #expect(outcome.status == 0 && outcome.errors.isEmpty)
            #expect(outcome.object["mistakes"] as? Int == 0)
            let steps = try #require(outcome.object["steps"] as? [[String: Any]])
            #expect(steps.map { $0["line"] as? String } == DemoStep.all.map(\.line))
            let unlock = try #require(steps.first { $0["line"] as? String == "keychainctl unlock" })
            #expect(unlock["status"] as? Int32 == 0 && unlock["asTold"] as? Bool == true)
            // A passcode that is typed is not shown.
            #expect((unlock["output"] as? [String])?.first == "Passcode: ")
        }
    }

    @Test("The demo ends with 1 if it cannot tell its story")
    func fails() throws {
        try withTool { (tool) throws in
            #expect(try tool.shell("$K demo > /dev/full").status == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.environment["TMPDIR"]!).isEmpty)
        }
    }

    private func result(of step: String) throws -> DemoResult {
        let terminal = DemoTerminal(home: FileManager.default.temporaryDirectory) { false }
        let steps = DemoStep.steps(of: "# A chapter\nA step.\n" + step)
        return try #require(try Demo(terminal: terminal, isFull: false, isForScripts: true).run(steps).steps.first)
    }

    @Test(
        "A step is as told if its status, a line of its output and the number of its questions are",
        arguments: [
            ("$ exit 3\n= 3", true), ("$ exit 3", false), ("$ true\n= 3", false),
            ("$ echo a; echo b\n< b", true), ("$ echo ab\n< b", false), ("$ printf 'first\\rlast'\n< last", true),
            ("$ printf 'Name: '; read name; test $name = x\n> x", true), ("$ true\n> x", false),
            ("$ printf 'Name: '; read name; test $name = x\n> y", false), ("$ test -t 0 && : < /dev/tty", true),
        ])
    func mistakes(step: String, isAsTold: Bool) throws {
        #expect(try result(of: step).isAsTold == isAsTold)
    }

    @Test("A demo that is to stop ends the step that runs, though that waits for an answer")
    func stopped() throws {
        let terminal = DemoTerminal(home: FileManager.default.temporaryDirectory) { true }
        #expect(try terminal.run("read answer", []).status == 128 + SIGTERM)
    }
}
