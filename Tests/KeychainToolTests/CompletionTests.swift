import Foundation
import KeychainTestSupport
import Testing

/// What a shell offers where a line names an item, asked as bash asks.
@Suite struct CompletionTests {
    private func offered(_ line: String, _ tool: Tool) throws -> [String] {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        let typed = words.map { "'\($0)'" }.joined(separator: " ")
        let script = """
            eval "$("$K" --generate-completion-script bash)"
            COMP_WORDS=("$K" \(typed)); COMP_CWORD=\(words.count); COMP_LINE="$K \(line)"; COMP_POINT=${#COMP_LINE}
            COMP_TYPE=9; COMP_KEY=9; _keychainctl "$K" '\(words.last ?? "")' '' 2>/dev/null
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let outcome = try tool.start(URL(fileURLWithPath: "/bin/bash"), ["-c", script], input: Data())
        return outcome.text.split(separator: "\n").map(String.init)
    }

    @Test(
        "A shell completes the names of items",
        arguments: ["get", "find", "update", "delete", "show", "edit", "totp", "get generic"])
    func names(command: String) throws {
        try withTool { (tool) throws in
            try tool.run("add", "mail.example", "--account", "ada")
            try tool.run("add", "internet", "--server", "mailhost.example", "--account", "ada")
            #expect(try offered("\(command) ma", tool) == ["mail.example", "mailhost.example"])
            #expect(try offered("\(command) mail.", tool) == ["mail.example"])
        }
    }

    @Test("A name that a shell would carry out is not offered, and is not carried out")
    func hostileNames() throws {
        try withTool { (tool) throws in
            let trace = tool.home.appendingPathComponent("trace").path
            let names = [
                "m$(touch \(trace))", "m`touch \(trace)`", "m;touch \(trace)", "m x", "m\"'", "m\nn", "m:n", "m*",
            ]
            for name in names { try tool.run("add", "generic", "--service", name, "--account", "ada") }
            try tool.run("add", "mähne/1.2_3@x", "--account", "ada")
            #expect(try offered("get m", tool) == ["mähne/1.2_3@x"])
            #expect(!FileManager.default.fileExists(atPath: trace))
        }
    }

    @Test("Of a store that the line names, its own names are offered; of a keychain that does not exist, the classes")
    func storeOfLine() throws {
        try withTool { (tool) throws in
            let other = tool.home.appendingPathComponent("other").path
            let place = ["--store", other, "--device-key", other + "-key"]
            try tool.run(words: ["add", "elsewhere", "--account", "ada"] + place, input: Data("any".utf8))
            #expect(try offered("get e", tool) == [])
            #expect(try offered("get i", tool).contains("internet"))
            #expect(try offered("get --store \(other) --device-key \(other)-key e", tool) == ["elsewhere"])
        }
    }
}
