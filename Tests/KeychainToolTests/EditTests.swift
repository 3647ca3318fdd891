import Foundation
import Testing

/// Secrets that are changed with an editor.
@Suite struct EditTests {
    /// An editor that notes what it was called with and what it saw, and then does something.
    private func edit(_ tool: Tool, name: String = "vim", _ change: String, _ words: String...) throws -> Tool.Outcome {
        let program = """
            #!/bin/sh
            for file; do :; done
            echo "$*" >"$HOME/arguments"
            readlink "$file" >"$HOME/link"
            stat -L -c %a "$file" >"$HOME/mode"
            \(change)
            """
        let path = try tool.file("bin/" + name, Data(program.utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        var tool = tool
        tool.variables["EDITOR"] = path
        return try tool.run(words: ["edit", "s"] + words)
    }

    private func content(_ name: String, _ tool: Tool) throws -> String {
        try String(contentsOfFile: tool.path(name), encoding: .utf8)
    }

    @Test("The editor gets a file in memory and is told to keep no copies; what it leaves is the new secret")
    func changes() throws {
        try withTool { (tool) throws in
            try tool.run("add", "s", input: Data("one\ntwo\n".utf8))
            let outcome = try edit(tool, "sed s/two/three/ \"$file\" >\"$HOME/new\"; cat \"$HOME/new\" >\"$file\"")
            #expect(outcome.status == 0)
            #expect(outcome.output.isEmpty && outcome.errors.isEmpty)
            #expect(try tool.run("get", "s").text == "one\nthree\n")
            #expect(try content("link", tool).hasPrefix("/memfd:keychain"))
            #expect(try content("mode", tool) == "600\n")
            let arguments = try content("arguments", tool)
            #expect(arguments.contains("-n -i NONE -c set noswapfile nobackup nowritebackup noundofile /proc/"))
        }
    }

    @Test(
        "The line feed that editors add is left out, unless the secret had one",
        arguments: [
            ("one", "two\n", "two"), ("one\n", "two\n", "two\n"), ("one", "two\n\n", "two\n"), ("one", "two", "two"),
        ])
    func lineFeed(before: String, written: String, after: String) throws {
        try withTool { (tool) throws in
            try tool.run("add", "s", input: Data(before.utf8))
            let text = written.replacing("\n", with: "\\n")
            #expect(try edit(tool, "printf '\(text)' >\"$file\"").status == 0)
            #expect(try tool.run("get", "s").text == after)
        }
    }

    @Test(
        "Nothing is changed if the editor fails, leaves nothing, or changes nothing",
        arguments: [
            ("exit 3", 1, "ended with 3"), (": >\"$file\"", 206, "nothing is left"),
            ("echo one >\"$file\"", 0, "nothing was changed"),
        ])
    func unchanged(change: String, status: Int32, words: String) throws {
        try withTool { (tool) throws in
            try tool.run("add", "s", input: Data("one".utf8))
            let modified = try tool.run("show", "s", "--json").object["modified"] as? String
            let outcome = try edit(tool, change)
            #expect(outcome.status == status)
            #expect(outcome.errors.contains(words))
            #expect(try tool.run("get", "s").text == "one")
            #expect(try tool.run("show", "s", "--json").object["modified"] as? String == modified)
        }
    }

    @Test("An editor that may keep copies is refused, before it sees anything, unless it is asked for")
    func anyEditor() throws {
        try withTool { (tool) throws in
            try tool.run("add", "s", input: Data("one".utf8))
            let refused = try edit(tool, name: "unknown", "echo two >\"$file\"")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("--any-editor"))
            #expect(!FileManager.default.fileExists(atPath: tool.path("arguments")))
            #expect(try edit(tool, name: "unknown", "echo two >\"$file\"", "--any-editor").status == 0)
            #expect(try tool.run("get", "s").text == "two")
        }
    }

    @Test("A change by another program meanwhile is not overwritten")
    func conflict() throws {
        try withTool { (tool) throws in
            try tool.run("add", "s", input: Data("one".utf8))
            let other = "printf other | '\(Tool.executable.path)' update s; echo mine >\"$file\""
            let outcome = try edit(tool, other)
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("another program has changed"))
            #expect(try tool.run("get", "s").text == "other")
        }
    }

    @Test("Of people who edit the same secret at once nobody's change is lost without a word")
    func atOnce() throws {
        try withTool { (tool) throws in
            try tool.run("add", "s", input: Data("0".utf8))
            let editor = try tool.file("bin/adder", Data("#!/bin/sh\nprintf $(($(cat \"$1\") + 1)) >\"$1\"\n".utf8))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: editor)
            let script = """
                export EDITOR='\(editor)'
                for n in 1 2 3 4 5 6 7 8; do ($K edit s --any-editor 2>/dev/null && echo done) & done
                wait
                """
            let done = try tool.shell(script).text.split(separator: "\n").count
            #expect(done > 0)
            #expect(try tool.run("get", "s").text == "\(done)")
        }
    }

    @Test("If the keychain is locked meanwhile, the message says that the edit is lost, and nothing is changed")
    func lockedMeanwhile() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            try tool.run("add", "s", input: Data("one".utf8))
            try tool.setPasscode()
            let outcome = try edit(tool, "echo two >\"$file\"; '\(Tool.executable.path)' lock --now >/dev/null")
            #expect(outcome.status == 36 && outcome.errors.contains("the edit is lost"))
            try tool.unlock()
            #expect(try tool.run("get", "s").text == "one")
        }
    }

    @Test("A key has no text, and what is not there is not edited")
    func noText() throws {
        try withTool { (tool) throws in
            try tool.run("key", "generate", "--tag", "me")
            #expect(try tool.run("edit", "key", "me").status == 64)
            #expect(try tool.run("edit", "nowhere").status == 44)
        }
    }
}
