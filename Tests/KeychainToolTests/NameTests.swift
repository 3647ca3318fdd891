import Foundation
import KeychainModel
import Testing

/// Items by what people call them: `keychainctl get mail.example`.
@Suite struct NameTests {
    private func withMail(_ body: (Tool) throws -> Void) throws {
        try withTool { (tool) throws in
            try tool.run("add", "mail.example", "--account", "ada", input: Data("first".utf8))
            try tool.run("add", "mail.example", "--account", "bob", input: Data("second".utf8))
            try tool.run("add", "internet", "--server", "mail.example", "--account", "ada", input: Data("third".utf8))
            try tool.run("add", "only.example", input: Data("fourth".utf8))
            try body(tool)
        }
    }

    @Test(
        "A name means one item, with its class or another attribute if several have the name",
        arguments: [
            ("get only.example", "fourth"), ("get mail.example --account bob", "second"),
            ("get internet mail.example", "third"), ("get generic mail.example --account ada", "first"),
            ("get generic --service only.example", "fourth"),
        ])
    func means(line: String, secret: String) throws {
        try withMail { (tool) throws in
            let outcome = try tool.shell("$K \(line)")
            #expect(outcome.status == 0)
            #expect(outcome.text == secret)
        }
    }

    @Test(
        "What several items have is never guessed: they are shown, nothing is done",
        arguments: ["get mail.example", "rm mail.example", "update mail.example --set-label x", "show mail.example"])
    func ambiguous(line: String) throws {
        try withMail { (tool) throws in
            let outcome = try tool.shell("$K \(line)")
            #expect(outcome.status == 206)
            #expect(outcome.output.isEmpty)
            let lines = outcome.errors.split(separator: "\n")
            #expect(
                lines.first
                    == "keychainctl: 3 items match in the access group keychain: choose one with its class or --account"
            )
            #expect(lines.dropFirst(2).count { $0.contains("mail.example") } == 3)
            #expect(try tool.run("find", "--json").objects.count == 4)
            #expect(!outcome.errors.contains("first"))
        }
    }

    @Test("Two servers that differ in their protocol are told apart in the table")
    func protocols() throws {
        try withTool { (tool) throws in
            for name in ["imaps", "smtp"] {
                try tool.run("add", "internet", "--server", "h", "--account", "a", "--protocol", name, "--port", "25")
            }
            let errors = try tool.run("get", "h").errors
            #expect(errors.contains("choose one with --protocol\n"))
            #expect(errors.contains("  imaps://h:25  ") && errors.contains("  smtp://h:25  "))
        }
    }

    @Test("A label is a name where nothing else has it, and a key has its tag")
    func labels() throws {
        try withTool { (tool) throws in
            try tool.run("add", "s", "--account", "a", "--label", "Bank", input: Data("label".utf8))
            #expect(try tool.run("get", "Bank").text == "label")
            try tool.run("add", "Bank", "--account", "a", input: Data("service".utf8))
            #expect(try tool.run("get", "Bank").text == "service")
            for name in ["one", "two"] { try tool.run("add", name, "--label", "Shared", input: Data(name.utf8)) }
            let refused = try tool.run("get", "Shared")
            #expect(refused.status == 206 && refused.errors.contains("choose one with its own name"))
            try tool.run("key", "generate", "--tag", "me")
            #expect(try tool.run("show", "me", "--json").object["class"] as? String == "key")
        }
    }

    @Test("rm deletes the one item of a name, and with --all every one; --dry-run shows them")
    func delete() throws {
        try withMail { (tool) throws in
            #expect(try tool.run("rm", "only.example").text == "1 item deleted\n")
            #expect(try tool.run("rm", "only.example").status == 44)
            let rehearsal = try tool.run("rm", "mail.example", "--all", "--dry-run")
            #expect(rehearsal.text.hasSuffix("\n3 items would be deleted\n"))
            #expect(try tool.run("rm", "mail.example", "--account", "bob").text == "1 item deleted\n")
            #expect(try tool.run("delete", "mail.example", "--all").text == "2 items deleted\n")
        }
    }

    @Test(
        "find searches for a part of any text, in capitals or not",
        arguments: [("mail", 3), ("EXAMPLE", 4), ("bob", 1), ("generic mail", 2), ("ada --service mail.example", 1)])
    func parts(words: String, count: Int) throws {
        try withMail { (tool) throws in
            #expect(try tool.shell("$K find \(words) --json").objects.count == count)
            #expect(try tool.shell("$K ls \(words) --json").objects.count == count)
        }
    }

    @Test("A part that nothing has is not found, and a name that nothing has leads to the search")
    func absent() throws {
        try withMail { (tool) throws in
            let part = try tool.run("find", "nowhere")
            #expect(part.status == 44)
            #expect(part.errors == "keychainctl: no item matches nowhere\n")
            let name = try tool.run("get", "mail")
            #expect(name.status == 44)
            #expect(name.errors.hasSuffix("; 'keychainctl find mail' searches for a part of a name\n"))
            let odd = try tool.run("get", "--", "-dash's")
            #expect(odd.errors.contains(#"'keychainctl find -- '-dash'"'"'s'' searches"#), "\(odd.errors)")
        }
    }

    @Test("A name whose item is locked, or asks for a person, is not reported as not found")
    func locked() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            try tool.setPasscode()
            try tool.run("add", "bank", "--account", "a", "--require", "passcode")
            try tool.run("add", "plain", "--account", "a")
            #expect(try tool.run("get", "bank", "--no-interaction").status == 36)
            #expect(try tool.run("find", "bank").status == 36)
            try tool.run("lock", "--now")
            #expect(try tool.run("get", "plain").status == 36)
            #expect(try tool.run("get", "nowhere").status == 44)
        }
    }

    @Test("A name that begins with - is a mistake of the command line unless it stands behind --")
    func dash() throws {
        try withTool { (tool) throws in
            for words in [["add", "-dash"], ["add", "-th", "--account", "me"], ["rm", "-yeah"], ["add", "-oops"]] {
                let outcome = try tool.run(words: words, input: Data("pw".utf8))
                #expect(outcome.status == 64 && outcome.errors.contains(words[1]) && outcome.output.isEmpty)
            }
            #expect(try tool.run(words: ["add", "--", "-dash"], input: Data("pw".utf8)).status == 0)
            #expect(try tool.run("get", "--", "-dash").text == "pw")
            #expect(try tool.run("add", "-h").text.contains("USAGE"))
            #expect(try tool.run("status", "-v").status == 0)
        }
    }

    @Test("show tells every attribute and never the secret")
    func show() throws {
        try withMail { (tool) throws in
            let shown = try tool.run("show", "mail.example", "--account", "bob")
            #expect(shown.text.contains("\nservice             mail.example\n"))
            #expect(!shown.text.contains("second"))
            let one = try tool.run("find", "generic", "--account", "bob", "--json").objects
            #expect(
                NSArray(array: [try tool.run("show", "mail.example", "--account", "bob", "--json").object]) == one
                    as NSArray)
        }
    }

    @Test("A name may be any text, also one that is a class if an option says so")
    func anyName() throws {
        try withTool { (tool) throws in
            for name in ["日本語", "a b", "\u{1b}[31m"] {
                try tool.run(words: ["add", name], input: Data(name.utf8))
                #expect(try tool.run("get", name).text == name)
            }
            try tool.run("add", "generic", "--service", "key", "--account", "a", input: Data("k".utf8))
            #expect(try tool.run("get", "generic", "key").text == "k")
        }
    }
}
