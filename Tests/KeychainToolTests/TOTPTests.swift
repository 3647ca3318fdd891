import Foundation
import KeychainModel
import KeychainTransfer
import Testing

/// One-time codes, as a person uses them.
@Suite struct TOTPTests {
    private static let uri = "otpauth://totp/ACME:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8"

    /// The codes that were right while `body` ran.
    private func codes(_ body: () throws -> Void) throws -> Set<String> {
        let key = try Data(Self.uri.utf8).withUnsafeBytes { try OneTimeKey(text: $0) }
        let start = UInt64(Date().timeIntervalSince1970)
        try body()
        return Set((start...UInt64(Date().timeIntervalSince1970)).map(key.code))
    }

    @Test(
        "A key that add --totp stored makes codes beside the password of the same name",
        arguments: [uri, uri + "\n", "gezd gnbv gy3t qojq gezd gnbv gy3t qojq"])
    func beside(text: String) throws {
        try withTool { (tool) throws in
            try tool.run("add", "mail.example", "--account", "ada", input: Data("hunter2".utf8))
            let added = try tool.run("add", "mail.example", "--account", "ada", "--totp", input: Data(text.utf8))
            #expect(added.status == 0)
            #expect(try tool.run("get", "mail.example").text == "hunter2")
            var outcome: Tool.Outcome?
            let codes = try codes { outcome = try tool.run("totp", "mail.example") }
            let code = try #require(outcome?.text)
            #expect(codes.contains { $0.hasSuffix(code) && code.count >= 6 })
            let report = try tool.run("totp", "mail.example", "--json").object
            #expect((1...30).contains(report["secondsLeft"] as? Int ?? 0))
            #expect(report["period"] as? Int == 30)
        }
    }

    @Test("update --totp changes the key, and never the password beside it")
    func update() throws {
        try withTool { (tool) throws in
            try tool.run("add", "site", "--account", "ada", input: Data("hunter2".utf8))
            let none = try tool.run("update", "site", "--totp", input: Data("MFRGG".utf8))
            #expect(none.status == 44)
            try tool.run("add", "site", "--account", "ada", "--totp", input: Data("MFRGG".utf8))
            #expect(try tool.run("update", "site", "--totp", input: Data("MFRGGZDFMZTWQ".utf8)).status == 0)
            #expect(try tool.run("get", "site").text == "hunter2")
            #expect(try tool.run("get", "otpauth:site").text == "MFRGGZDFMZTWQ")
            #expect(try tool.run("update", "generic", "--service", "site", "--totp").status == 64)
        }
    }

    @Test("A person who deletes a password hears that the key for its one-time codes is left")
    func left() throws {
        try withTool { (tool) throws in
            try tool.run("add", "site", input: Data("hunter2".utf8))
            try tool.run("add", "site", "--totp", input: Data("MFRGG".utf8))
            let session = try TerminalSession(tool, "rm", "site")
            #expect(try session.end() == 0)
            #expect(session.transcript.contains("rm otpauth:site"))
            #expect(try tool.run("find", "--json").objects.count == 1)
        }
    }

    @Test("A person who renames a password hears that the key for its one-time codes keeps its name")
    func renamed() throws {
        try withTool { (tool) throws in
            try tool.run("add", "site", input: Data("hunter2".utf8))
            try tool.run("add", "site", "--totp", input: Data("MFRGG".utf8))
            let session = try TerminalSession(tool, "update", "site", "--set-service", "other")
            #expect(try session.end() == 0)
            let words = session.transcript.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("update otpauth:site --set-service otpauth:other"))
        }
    }

    @Test("A line of a longer secret makes codes, too; a password alone is no key, whatever it looks like")
    func line() throws {
        try withTool { (tool) throws in
            try tool.run("add", "both", input: Data("hunter2\n\(Self.uri)\nuser: ada\n".utf8))
            var outcome: Tool.Outcome?
            let codes = try codes { outcome = try tool.run("totp", "both") }
            #expect(codes.contains(try #require(outcome?.text)))
            try tool.run("add", "words", input: Data("elm-relay-black".utf8))
            let refused = try tool.run("totp", "words")
            #expect(refused.status == 206)
            #expect(!refused.errors.contains("relay"))
            #expect(try tool.run("totp", "nowhere").status == 44)
        }
    }

    @Test("What is no key is not stored, and the message does not show it")
    func refused() throws {
        try withTool { (tool) throws in
            let outcome = try tool.run("add", "x", "--totp", input: Data("hunter2!".utf8))
            #expect(outcome.status == 206)
            #expect(!outcome.errors.contains("hunter"))
            #expect(try tool.run("find").status == 44)
        }
    }

    @Test("A person reads how long the code is right")
    func terminal() throws {
        try withTool { (tool) throws in
            try tool.run("add", "x", "--totp", input: Data(Self.uri.utf8))
            let session = try TerminalSession(tool, words: ["totp", "x"], showsOutput: true)
            #expect(try session.end() == 0)
            #expect(session.transcript.contains("note: right for another "))
        }
    }
}
