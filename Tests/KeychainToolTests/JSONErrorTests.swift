import ArgumentParser
import Foundation
import Testing

@testable import KeychainTool

/// With `--json` a script reads standard error, too: one JSON object a line.
@Suite struct JSONErrorTests {
    @Test(
        "An error is a JSON object with the exit status, Apple's status and the message",
        arguments: [
            ("find --json", 44, -25300), ("delete generic --service s --json", 44, -25300),
            ("status --json --store /dev/null/x", 53, -25291), ("find --frob --json", 64, nil),
            ("frob --json", 64, nil),
        ] as [(String, Int, Int?)])
    func errors(line: String, status: Int, code: Int?) throws {
        try withTool { (tool) throws in
            let outcome = try tool.shell("$K \(line)")
            #expect(Int(outcome.status) == status)
            let error = try #require(try Self.objects(outcome.errors).last?["error"] as? [String: Any])
            #expect(error["status"] as? Int == status)
            #expect(error["code"] as? Int == code)
            #expect((error["message"] as? String)?.isEmpty == false)
        }
    }

    @Test("What matches is in the error, and a note is an object of its own")
    func matchesAndNotes() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            try tool.setPasscode()
            try tool.run("add", "s", "--account", "a")
            try tool.run("add", "s", "--account", "b")
            let ambiguous = try Self.objects(try tool.run("show", "s", "--json").errors)
            let error = try #require(ambiguous.first?["error"] as? [String: Any])
            #expect((error["matches"] as? [[String: Any]])?.map { $0["class"] as? String } == ["generic", "generic"])
            try tool.run("add", "t", "--require", "passcode")
            let notes = try Self.objects(try tool.run("find", "--json").errors)
            #expect((notes.first?["note"] as? String)?.hasPrefix("items that ask for authentication") == true)
        }
    }

    @Test("Every command has --json")
    func everyCommand() {
        func check(_ command: any ParsableCommand.Type) {
            let commands = command.configuration.subcommands
            commands.forEach(check)
            guard commands.isEmpty, command.configuration.shouldDisplay else { return }
            #expect(KeychainCommand.helpMessage(for: command).contains("--json"), "\(command)")
        }
        check(KeychainCommand.self)
    }

    @Test("What changes the lock prints its state, and what moves or looks at files prints that")
    func results() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            try tool.add("a")
            let passcode = Tool.lines("passcode", "passcode")
            #expect(try tool.run("passcode", "set", "--json", input: passcode).object["passcode"] as? Bool == true)
            #expect(try tool.run("lock", "--now", "--json").object["state"] as? String == "locked")
            let unlocked = try tool.run("unlock", "--json", input: Tool.lines("passcode"))
            #expect(unlocked.object["state"] as? String == "unlocked")
            let file = try tool.file("f")
            #expect(try tool.run("file", "class", file, "--json").objects.first?["class"] is NSNull)
            try tool.run("file", "protect", file, "--class", "complete")
            let classes = try tool.run("file", "class", file, "--json").objects
            #expect(classes as NSArray == [["path": file, "class": "complete"]] as NSArray)
            let set = try tool.run("file", "class", file, "--set", "none", "--json").objects
            #expect(set.first?["class"] as? String == "none")
            let removed = try tool.run("passcode", "remove", "--yes", "--json", input: Tool.lines("passcode"))
            #expect(removed.object["passcode"] as? Bool == false)
            #expect(try tool.run("migrate", "--to", "embedded", "--json").object["host"] as? String == "embedded")
        }
    }

    /// Every line of a text.
    static func objects(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
    }
}
