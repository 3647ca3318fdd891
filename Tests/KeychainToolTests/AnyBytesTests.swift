import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

/// Whatever the command stores comes back byte for byte: secrets from standard input, attributes from arguments.
///
/// A failure tells the seed; `KEYCHAIN_TEST_SEED` repeats the run.
@Suite struct AnyBytesTests {
    @Test("Any secret and any text as an attribute come back, and find the item")
    func values() throws {
        var source = AnyBytes()
        let seed = source.generator.seed
        try withTool { (tool) throws in
            for number in 0..<25 {
                let comment: Comment = "seed \(seed), item \(number)"
                let (service, account, label) = (argument(&source), "\(number)" + argument(&source), argument(&source))
                let name = ["--service", service, "--account", account]
                let secret = source.data()
                let added = try tool.run(
                    words: ["add", "generic", "--allow-empty"] + name + ["--label", label], input: secret)
                #expect(added.status == 0, comment)
                #expect(try tool.run(words: ["get", "generic"] + name).output == secret, comment)
                let found = try tool.run(words: ["find", "generic", "--label", label, "--account", account, "--json"])
                let attributes = try #require(found.objects.first?["attributes"] as? [String: Any], comment)
                for (key, value) in [("service", service), ("account", account), ("label", label)] {
                    #expect((attributes[key] as? String)?.utf8.elementsEqual(value.utf8) == true, "\(key), \(comment)")
                }
                let other = source.data()
                let label2 = argument(&source)
                let updated = try tool.run(
                    words: ["update", "generic", "--allow-empty"] + name + ["--secret", "--set-label", label2],
                    input: other)
                #expect(updated.status == 0, comment)
                let got = try tool.run(words: ["get", "generic", "--account", account, "--label", label2])
                #expect(got.output == other, comment)
            }
        }
    }

    @Test("Every odd sequence of bytes is a secret", arguments: AnyBytes.oddBytes)
    func oddSecrets(secret: Data) throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a", "--allow-empty", input: secret)
            #expect(try tool.run("get", "generic", "--service", "s").output == secret)
        }
    }

    @Test("A label of a hundred thousand bytes is an argument, and one of a megabyte is shown")
    func longLabels() throws {
        try withTool { (tool) throws in
            let label = String(repeating: "e\u{301}\n", count: 30_000)
            try tool.run("add", "generic", "--service", "s", "--account", "a", "--label", label, input: Data([1]))
            #expect(try tool.run("get", "generic", "--label", label).output == Data([1]))
            #expect(try tool.run("get", "generic", "--label", String(label.dropLast())).status == 44)
            let text = String(repeating: "\u{0}x", count: 1 << 19)
            try tool.asApp(["app"], .add(service: .text(text), account: .data(Data(repeating: 0xff, count: 1 << 20))))
            let found = try tool.run("find", "--group", "app", "--json")
            let attributes = try #require(found.objects.first?["attributes"] as? [String: Any])
            #expect(attributes["service"] as? String == text)
            #expect(
                (attributes["account"] as? [String: String])?["base64"]
                    == Data(repeating: 0xff, count: 1 << 20).base64EncodedString())
        }
    }

    @Test("An argument that is no text is refused, not stored as something else", arguments: ["\\377", "a\\303(b"])
    func notText(bytes: String) throws {
        try withTool { (tool) throws in
            let argument = "\"$(printf '\(bytes)')\""
            let added = try tool.shell("printf x | $K add generic --service s --account \(argument)")
            #expect(added.status == 64)
            #expect(added.errors.contains("UTF-8"))
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
            try tool.run("add", "generic", "--service", "s", "--account", "\u{fffd}", input: Data([1]))
            #expect(try tool.shell("$K get generic --account \(argument)").status == 64)
            #expect(try tool.shell("$K delete generic --service \(argument) --all").status == 64)
        }
    }

    /// An argument cannot have a NUL, an empty one is refused where it names something, and a very long one is another
    /// test's; one that begins with a hyphen would be an option.
    private func argument(_ source: inout AnyBytes) -> String {
        // By scalars: a mark that follows a NUL is one character with it.
        "x" + String(String.UnicodeScalarView(source.text().unicodeScalars.filter { $0 != "\u{0}" }.prefix(2_000)))
    }
}
