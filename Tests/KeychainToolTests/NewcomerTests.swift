import Foundation
import KeychainTestSupport
import Testing

/// The first blocks of the documents, as somebody types them who reads the README and goes on with the guide.
@Suite struct NewcomerTests {
    /// The lines of the first block behind a heading that has a word.
    private func block(_ document: String, after heading: String, with word: String) throws -> String {
        let text = try String(contentsOf: Repository.file(document), encoding: .utf8)
        let part = try #require(text.components(separatedBy: heading).dropFirst().first)
        let blocks = part.components(separatedBy: "```sh\n").dropFirst().map { $0.components(separatedBy: "\n```")[0] }
        return try #require(blocks.first { $0.contains(word) })
    }

    @Test("The first blocks of the README and of the guide run one after the other, in one shell, on an empty home")
    func firstBlocks() throws {
        try withTool { (plain) throws in
            var tool = plain
            // A desktop whose clipboard takes what it is given, and an editor that changes nothing.
            let programs = tool.home.appendingPathComponent("bin")
            try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
            for (name, script) in [("xclip", "cat >$HOME/clipboard"), ("vi", "true")] {
                let file = programs.appendingPathComponent(name)
                try Data("#!/bin/sh\n\(script)\n".utf8).write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
            }
            try FileManager.default.createSymbolicLink(
                at: programs.appendingPathComponent("keychainctl"), withDestinationURL: Tool.executable)
            tool.variables["PATH"] = programs.path + ":/usr/bin:/bin"
            (tool.variables["DISPLAY"], tool.variables["EDITOR"]) = (":0", "vi")
            let script = try [
                block("README.md", after: "## Install", with: "keychainctl add"),
                block("docs/guide.md", after: "## Every day", with: "keychainctl"),
            ].joined(separator: "\n")
            let session = try TerminalSession(tool, program: "/bin/sh", words: ["-ec", script], showsOutput: true)
            #expect(try session.end() == 0, "\(session.transcript)")
            #expect(session.lines.contains { $0.hasPrefix("hunter2") })
            #expect(try tool.run("find", "--json").objects.count == 2)
        }
    }
}
