import Foundation
import KeychainModel
import Testing

@testable import KeychainTool

/// The table of items at terminals of several widths.
@Suite struct ItemTableTests {
    private func shown(_ columns: UInt16, _ tool: Tool, _ words: String...) throws -> [String] {
        let session = try TerminalSession(tool, words: words, showsOutput: true, columns: columns)
        _ = try session.end()
        return session.lines.filter { !$0.isEmpty }
    }

    @Test("No line of a table is wider than the terminal, and each says which item it is", arguments: [40, 80, 200])
    func fits(columns: UInt16) throws {
        try withTool { (tool) throws in
            var tool = tool
            tool.variables["NO_COLOR"] = "1"
            let label = String(repeating: "字", count: 30)
            try tool.run("add", "mail.example", "--account", "ada", "--label", label)
            try tool.run("add", "日本語サービス", "--account", "ユーザー🔑", "--expires", "2d")
            for words in [["find"], ["get", "generic"]] {
                let session = try TerminalSession(tool, words: words, showsOutput: true, columns: columns)
                _ = try session.end()
                let lines = session.lines.filter { !$0.isEmpty }
                #expect(lines.allSatisfy { TerminalText.columns($0) <= Int(columns) }, "\(lines)")
                #expect(lines.contains { $0.contains("mail.example") && $0.contains("ada") })
                #expect(lines.contains { $0.contains("日本語") && $0.contains("ユーザー🔑") })
                #expect(columns == 80 || lines.contains { $0.contains("MODIFIED") } == (columns == 200))
            }
        }
    }

    @Test("At 80 columns names are whole as long as a column that tells nothing could go")
    func namesFirst() throws {
        try withTool { (tool) throws in
            var tool = tool
            tool.variables["NO_COLOR"] = "1"
            try tool.run("add", "registry.example.com", "--account", "ada.lovelace@example.com")
            try tool.run("add", "otpauth:mail.example", "--account", "ada.lovelace@example.com")
            let lines = try shown(80, tool, "ls")
            for name in ["registry.example.com", "otpauth:mail.example"] {
                #expect(lines.contains { $0.contains(name + "  ada.lovelace@example.com") }, "\(lines)")
            }
            #expect(lines.first?.contains("MODIFIED") == true)
            // A label tells something, and is cut before a name is.
            try tool.run("add", "labelled.example", "--label", String(repeating: "l", count: 40))
            let labelled = try shown(80, tool, "ls")
            #expect(labelled.contains { $0.contains("registry.example.com  ada.lovelace@example.com") }, "\(labelled)")
        }
    }

    @Test("Columns that say the usual go first, and one line is still one item")
    func usual() throws {
        try withTool { (tool) throws in
            var tool = tool
            tool.variables["NO_COLOR"] = "1"
            try tool.run("add", "mail.example", "--account", "ada", "--group", "other")
            #expect(try shown(40, tool, "ls").first == "GROUP  WHERE         ACCOUNT")
            #expect(try shown(200, tool, "ls").first?.hasPrefix("CLASS    GROUP  WHERE         ACCOUNT  LABEL") == true)
        }
    }

    @Test("The heading is bold at a terminal and nowhere else")
    func heading() throws {
        try withTool { (tool) throws in
            try tool.run("add", "s")
            #expect(try shown(80, tool, "ls").first?.hasPrefix("\u{1b}[1mCLASS") == true)
            #expect(try tool.run("ls").text.hasPrefix("CLASS"))
        }
    }
}
