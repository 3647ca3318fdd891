import Foundation
import KeychainModel
import Testing

@testable import KeychainTool

/// Passwords that the command makes.
@Suite struct GenerateTests {
    /// Counts up, so that every choice is known.
    private struct Counter: RandomNumberGenerator {
        var state: UInt64 = 0

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            return state
        }
    }

    private func make(_ recipe: PasswordRecipe, _ generator: inout some RandomNumberGenerator) -> String {
        String(decoding: recipe.make(using: &generator).copyData(), as: UTF8.self)
    }

    @Test("A password has every class that it is made of and nothing else, whatever the randomness")
    func classes() {
        let classes = CharacterClass.allCases.map(\.characters)
        var generator = Counter()
        for count in [4, 5, 20, 64] {
            let recipe = PasswordRecipe.characters(count: count, classes: classes)
            for _ in 0..<50 {
                let password = make(recipe, &generator)
                #expect(password.utf8.count == count)
                #expect(classes.allSatisfy { set in password.utf8.contains(where: set.contains) })
                #expect(password.utf8.allSatisfy { classes.joined().contains($0) })
            }
        }
    }

    @Test("Every character is as likely as any other one")
    func uniform() {
        var generator = SystemRandomNumberGenerator()
        let recipe = PasswordRecipe.characters(count: 1000, classes: [CharacterClass.digits.characters])
        var counts: [UInt8: Int] = [:]
        for _ in 0..<100 { for byte in make(recipe, &generator).utf8 { counts[byte, default: 0] += 1 } }
        // 10,000 each, give or take ten standard deviations.
        #expect(counts.count == 10)
        #expect(counts.values.allSatisfy { (9000...11_000).contains($0) })
    }

    @Test("The same randomness makes the same password, and other randomness another one")
    func randomness() {
        let recipe = PasswordRecipe.characters(count: 20, classes: [CharacterClass.lower.characters])
        var (first, again, other) = (Counter(), Counter(), Counter(state: 1 << 60))
        let password = make(recipe, &first)
        #expect(password == make(recipe, &again))
        #expect(password != make(recipe, &other))
    }

    @Test("The list has 1024 different words of small letters, and none is the beginning of another one")
    func wordList() {
        let words = WordList.words
        #expect(words.count == 1024)
        #expect(
            words.allSatisfy { (3...5).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x61...0x7a).contains($0) } })
        #expect(words == words.sorted())
        #expect(zip(words, words.dropFirst()).allSatisfy { !$1.hasPrefix($0) })
    }

    @Test("Entropy is the logarithm of the number of passwords")
    func entropy() {
        #expect(PasswordRecipe.words(count: 6, separator: "").entropy == 60)
        #expect(PasswordRecipe.characters(count: 4, classes: [[1, 2]]).entropy == 4)
        // Two characters, one of each of two classes: 2 · 26 · 10 of them.
        let both = PasswordRecipe.characters(
            count: 2, classes: [CharacterClass.lower.characters, CharacterClass.digits.characters])
        #expect(abs(both.entropy - log2(520)) < 1e-9)
    }

    @Test(
        "The command writes the password and nothing else; a terminal is told of its entropy",
        arguments: [
            ("", 20, "20 characters, 1"), ("32", 32, "32 characters, 2"),
            ("--length 8 --characters digits", 8, "8 characters, 26"),
            ("12 --exclude 0O1lI", 12, "12 characters, 7"),
        ])
    func command(options: String, count: Int, words: String) throws {
        try withTool { (tool) throws in
            let outcome = try tool.shell("$K generate \(options)")
            #expect(outcome.status == 0)
            #expect(outcome.output.count == count)
            #expect(outcome.errors.isEmpty)
            #expect(try tool.shell("$K generate \(options)").text != outcome.text)
            let line = ["generate"] + options.split(separator: " ").map(String.init)
            let session = try TerminalSession(tool, words: line, showsOutput: true)
            #expect(try session.end() == 0)
            #expect(session.transcript.contains("note: \(words)"))
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test(
        "What makes no password, or is no option of one, is a mistake on the command line",
        arguments: [
            "generate 3", "generate 1025", "generate 8 --length 9", "generate --words 2",
            "generate --words 5 --length 30",
            "generate --separator x", "generate --characters letters", "generate --characters lower,lower",
            "generate --characters digits --exclude 0123456789", "generate --characters digits --exclude 123456789",
            "add x --length 9", "add x --generate --totp",
        ])
    func mistakes(line: String) throws {
        try withTool { (tool) throws in #expect(try tool.shell("$K \(line)").status == 64) }
    }

    @Test("add --generate stores a password that nobody has seen, and update --generate another one")
    func stores() throws {
        try withTool { (tool) throws in
            let added = try tool.run("add", "mail.example", "--account", "ada", "--generate", input: Data())
            #expect(added.status == 0)
            #expect(added.output.isEmpty)
            let first = try tool.run("get", "mail.example").text
            #expect(first.count == 20)
            #expect(try tool.run("add", "mail.example", "--account", "ada", "--generate").status == 45)
            let updated = try tool.run("update", "mail.example", "--generate", "--words", "5", "--json")
            #expect(updated.object["class"] as? String == "generic")
            #expect(try tool.run("get", "mail.example").text.split(separator: "-").count == 5)
            let session = try TerminalSession(tool, "add", "b", "--generate")
            #expect(try session.end() == 0)
            #expect(session.transcript.contains("20 characters, 1"))
            #expect(try !session.transcript.contains(tool.run("get", "b").text))
        }
    }

    @Test("With --json get and generate print the secret as a string, or as base64 if it is no text")
    func json() throws {
        try withTool { (tool) throws in
            #expect((try tool.run("generate", "--json").object["password"] as? String)?.count == 20)
            let text = "quote \" backslash \\ \n \u{1b} \u{85} 日本語 🔑"
            try tool.run("add", "text", input: Data(text.utf8))
            let item = try tool.run("get", "text", "--json").object
            #expect(item["secret"] as? String == text)
            #expect((item["attributes"] as? [String: Any])?["service"] as? String == "text")
            for count in 1...4 {
                let bytes = Data([0xff, 0, 0xfe, 7].prefix(count))
                try tool.run("add", "bytes", "--update", input: bytes)
                let secret = try tool.run("get", "bytes", "--json").object["secret"] as? [String: String]
                #expect(secret == ["base64": bytes.base64EncodedString()])
            }
        }
    }
}
