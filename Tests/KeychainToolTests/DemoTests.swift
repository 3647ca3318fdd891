import Foundation
import KeychainModel
import Testing

@testable import KeychainTool

@Suite struct DemoTests {
    @Test("The demo is as told, leaves nothing behind, and uses no store of the user")
    func demo() throws {
        try withTool { (tool) throws in
            let outcome = try tool.run("demo")
            #expect(outcome.status == 0)
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
