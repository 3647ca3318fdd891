import Foundation
import KeychainModel
import Testing

@testable import KeychainTool

@Suite struct DemoTests {
    @Test("The demo is as told, leaves nothing behind, and uses no store of the user")
    func demo() throws {
        try withTool { (tool) throws in
            let outcome = try tool.run("demo", "--full")
            #expect(outcome.status == 0)
            #expect(outcome.errors.isEmpty)
            #expect(!outcome.text.contains("NOT AS TOLD"))
            for status in ["-25299", "-25300", "-34018", "-25308", "-25293"] {
                #expect(outcome.text.contains("→ status \(status)\n"))
            }
            for refusal in ["locked, status -25308", "tampered"] {
                #expect(outcome.text.contains("→ refused: \(refusal)\n"))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.environment["TMPDIR"]!).isEmpty)
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test("In short the demo has a mark for every step, and no line is wider than the terminal")
    func short() throws {
        try withTool { (tool) throws in
            let full = try tool.run("demo", "--full").text.split(separator: "\n")
            let session = try TerminalSession(tool, words: ["demo"], showsOutput: true, columns: 60)
            #expect(try session.end() == 0)
            let marked = session.lines.count { $0.hasPrefix("  \u{1b}[32m✓\u{1b}[m ") }
            #expect(marked == full.count { $0.firstMatch(of: #/^ ?[0-9]+\. /#) != nil })
            let texts = session.lines.filter { !$0.contains("/") }.map { $0.replacing(#/\x1b\[[0-9]*m/#, with: "") }
            #expect(texts.dropFirst(2).allSatisfy { $0.count <= 60 || !$0.hasPrefix("  ") })
        }
    }

    @Test("The demo ends with 1 if it cannot tell its story")
    func fails() throws {
        try withTool { (tool) throws in
            #expect(try tool.shell("$K demo > /dev/full").status == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.environment["TMPDIR"]!).isEmpty)
        }
    }

    @Test("A step whose status is another one than told counts as a mistake")
    func mistakes() throws {
        let narrator = DemoNarrator(shouldStop: { false })
        try narrator.step("a success that should fail", expecting: .itemNotFound) {}
        narrator.expect(false, "of a test")
        #expect(narrator.mistakes == 2)
    }
}
