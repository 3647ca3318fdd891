import Foundation
import KeychainModel
import SwiftKeychain
import Testing

@testable import KeychainTool

@Suite struct OutputTests {
    /// Sets the window's title, clears the screen (also in its one-byte form), and turns the direction round.
    static let hostile = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}"

    private func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0 != "\n" && TerminalText.isHidden($0) }
    }

    @Test("A stored attribute cannot send anything to the terminal", arguments: ["find", "find --json", "get generic"])
    func terminalEscapes(command: String) throws {
        try withTool { (tool) throws in
            for group in ["one\(Self.hostile)", "two"] {
                try tool.asApp([group], .add(service: .text(Self.hostile)))
            }
            let outcome = try tool.shell("$K \(command)")
            #expect(!hasControls(outcome.text))
            #expect(!hasControls(outcome.errors))
            #expect((outcome.text + outcome.errors).contains("owned"))
        }
    }

    @Test("JSON gives back exactly what was stored, text as text and bytes as base64")
    func json() throws {
        try withTool { (tool) throws in
            let bytes = Data([0, 0xff, 0xfe])
            try tool.asApp(["app"], .add(service: .text(Self.hostile + "\"\\\n😀"), account: .data(bytes)))
            let item = try #require(try tool.run("find", "--json").objects.first)
            #expect(
                Set(item.keys) == [
                    "class", "reference", "group", "synchronizable", "accessible", "constraints", "created",
                    "modified", "expires", "attributes",
                ])
            let attributes = try #require(item["attributes"] as? [String: Any])
            #expect(attributes["service"] as? String == Self.hostile + "\"\\\n😀")
            #expect((attributes["account"] as? [String: String]) == ["base64": bytes.base64EncodedString()])
            #expect(item["class"] as? String == "generic")
            #expect(item["synchronizable"] as? Bool == false)
            let modified = try #require(item["modified"] as? String)
            #expect(modified.hasSuffix("Z"))
        }
    }

    @Test("A label of megabytes takes one short line of the table")
    func longLabel() throws {
        try withTool { (tool) throws in
            try tool.asApp(["app"], .add(service: .text(String(repeating: "long ", count: 400_000))))
            let outcome = try tool.run("find")
            #expect(outcome.status == 0)
            #expect(outcome.output.count < 1000)
        }
    }

    @Test(
        "A standard output that takes nothing ends with 1, and the store stays whole",
        arguments: ["$K find >&-", "$K get generic >&-", "$K find --json > /dev/full", "$K get generic > /dev/full"])
    func closedOutput(line: String) throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("secret".utf8))
            let outcome = try tool.shell(line)
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("cannot write to standard output"))
            #expect(try tool.run("doctor").status == 0)
        }
    }

    @Test("A reader that goes away is no crash and no noise")
    func brokenPipe() throws {
        try withTool { (tool) throws in
            try tool.run(
                "add", "generic", "--service", "s", "--account", "a", input: Data(repeating: 65, count: 1 << 20))
            let outcome = try tool.shell("{ $K get generic; echo $? >&2; } | :")
            #expect(outcome.errors == "1\n")
        }
    }

    @Test("Without a standard input nothing is stored", arguments: ["$K add generic --service s --account a <&-"])
    func closedInput(line: String) throws {
        try withTool { (tool) throws in
            #expect(try tool.shell(line).status == 1)
            #expect(try tool.run("find").status == 44)
        }
    }

    @Test("A program without any standard stream does not write into its own files")
    func noStreams() throws {
        try withTool { (tool) throws in
            #expect(try tool.shell("printf x | $K add generic --service s --account a >&- 2>&-").status == 0)
            #expect(try tool.shell("$K find <&- >&- 2>&-").status == 1)
            #expect(try tool.run("doctor").status == 0)
            #expect(try tool.run("get", "generic").text == "x")
        }
    }

    @Test(
        "Every protocol has a code of four characters, a name and a scheme of its own, and the Swift API has the same")
    func protocolCodes() {
        let all = InternetProtocol.allCases
        #expect(all.allSatisfy { $0.rawValue.utf8.count == 4 })
        #expect(all.allSatisfy { InternetProtocol(name: $0.name) == $0 && InternetProtocol(scheme: $0.scheme) == $0 })
        #expect(Set(all.map(\.rawValue)) == Set(Keychain.InternetProtocol.allCases.map(\.rawValue)))
    }

    @Test("Every protection class has a name, and the name means it", arguments: Protection.allCases)
    func accessibleNames(protection: Protection) {
        #expect(Protection(argument: protection.name) == protection)
    }

    @Test("Sizes are told in words", arguments: [(0, "0 bytes"), (1536, "1.5 KiB"), (64 << 20, "64 MiB")])
    func byteCounts(count: Int64, text: String) {
        #expect(ByteCount.text(count) == text)
    }
}
