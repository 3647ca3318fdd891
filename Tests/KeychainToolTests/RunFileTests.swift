import Foundation
import Testing

/// The files that 'run' reads: env files, and what it makes: a netrc.
@Suite struct RunFileTests {
    @Test("An env file sets variables, literally, and its references become secrets")
    func environmentFile() throws {
        try withSecrets(["api": "secret-value"]) { (tool) throws in
            let text = """
                \u{feff}# a comment
                API=keychain://generic/api/ada  # of the API
                  export PLAIN= two words\t\r
                EMPTY=
                HASH=a#b
                DOLLAR=$HOME ${HOME}

                SINGLE='it is \\n $literal
                of two lines' # behind
                DOUBLE="a\\tb\\n\\"\\$\\\\"
                """
            let file = try tool.file("vars", Data(text.utf8))
            let script = "printf '%s|' \"$API\" \"$PLAIN\" \"$EMPTY\" \"$HASH\" \"$DOLLAR\" \"$SINGLE\" \"$DOUBLE\""
            let outcome = try tool.run("run", "--no-masking", "--env-file", file, "--", "sh", "-c", script)
            #expect(
                outcome.text
                    == "secret-value|two words||a#b|$HOME ${HOME}|it is \\n $literal\nof two lines|a\tb\n\"$\\|")
        }
    }

    @Test(
        "A # begins a comment behind a blank alone, as bash and python-dotenv have it",
        arguments: [
            ("A=#s3cret!", "#s3cret!"), ("A=#ff00aa # colour", "#ff00aa"), ("A=a#b", "a#b"), ("A=##", "##"),
            ("A= #c", ""), ("A=\t# c", ""), ("A= a #c", "a"), ("A=a\t#c", "a"), ("A=", ""), ("A=# c # d", "# c"),
        ])
    func comments(line: String, value: String) throws {
        try withTool { (tool) throws in
            let file = try tool.file("vars", Data((line + "\nB=next\n").utf8))
            let outcome = try tool.run("run", "--env-file", file, "--", "sh", "-c", "printf '[%s]' \"$A\" \"$B\"")
            #expect(outcome.text == "[\(value)][next]", "\(outcome.errors)")
        }
    }

    @Test("An end of a line within quotes is a line feed, whichever program wrote the file", arguments: ["'", "\""])
    func lineEndsInQuotes(quote: String) throws {
        try withTool { (tool) throws in
            let file = try tool.file("vars", Data("A=\(quote)one\r\ntwo\rthree\(quote)\r\nB=next\r\n".utf8))
            let outcome = try tool.run("run", "--env-file", file, "--", "sh", "-c", "printf '[%s]' \"$A\" \"$B\"")
            #expect(outcome.text == "[one\ntwo\rthree][next]")
        }
    }

    @Test("A reference that is none is told with its file, line and column")
    func invalidReference() throws {
        try withSecrets(["api": "secret-value"]) { (tool) throws in
            let file = try tool.file("vars", Data("# c\n  export BAD=keychain://generic/only\n".utf8))
            let outcome = try tool.run("run", "--env-file", file, "--", "echo", "started")
            #expect(outcome.status == 206 && outcome.output.isEmpty)
            #expect(outcome.errors.contains("\(file):2:10: BAD: "))
        }
    }

    @Test("An env file comes before the environment, and a later one before an earlier one")
    func order() throws {
        try withTool { (tool) throws in
            var tool = tool
            (tool.variables["A"], tool.variables["B"]) = ("environment", "environment")
            let first = try tool.file("first", Data("B=first\nC=first\n".utf8))
            let second = try tool.file("second", Data("C=second".utf8))
            let run = ["run", "--env-file", first, "--env-file", second, "--", "sh", "-c", "echo $A $B $C"]
            #expect(try tool.run(words: run).text == "environment first second\n")
        }
    }

    @Test(
        "A mistake in an env file is told with its place, without the value, and nothing is started",
        arguments: [
            ("A=1\nB 2-hidden", "2:2"), ("1A=hidden", "1:1"), ("A='hidden", "1:3"), ("A=\"hidden\\q\"", "1:10"),
            ("A=\"hidden\" x", "1:12"), ("A=1\n\nA=hidden", "3:1"), ("\n =hidden", "2:2"),
            ("A=1\nB=\u{0}hidden", "2:3"), ("\u{feff}Ä\u{0}", "1:2"),
            ("export=1\nexport B hidden", "2:9"),
        ])
    func mistakes(text: String, place: String) throws {
        try withTool { (tool) throws in
            let file = try tool.file("vars", Data(text.utf8))
            let outcome = try tool.run("run", "--env-file", file, "--", "echo", "started")
            #expect(outcome.status == 206)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("\(file):\(place): "))
            #expect(!outcome.errors.contains("hidden"))
        }
    }

    @Test("An env file that is not there, or is no text, is an error that names it")
    func unreadable() throws {
        try withTool { (tool) throws in
            let missing = try tool.run("run", "--env-file", "/nosuch/file", "--", "echo", "started")
            #expect(missing.status == 220)
            #expect(missing.errors.contains("/nosuch/file"))
            #expect(missing.output.isEmpty)
            let line = "printf 'A=1\\nB=\\377' > $HOME/latin; $K run --env-file $HOME/latin -- echo started"
            let latin = try tool.shell(line)
            #expect(latin.status == 206)
            #expect(latin.errors.contains("latin:2:3: a zero byte, or one that is not UTF-8 text"))
            #expect(latin.output.isEmpty)
        }
    }

    @Test("A netrc has the internet passwords of web servers, and curl takes them from it")
    func netrc() throws {
        try withTool { (tool) throws in
            try addServers(tool)
            let all = try tool.run("run", "--no-masking", "--netrc", "--", "sh", "-c", "readlink -f $NETRC; cat $NETRC")
            let lines = all.text.split(separator: "\n")
            #expect(lines.first?.hasPrefix("/memfd:") == true)
            #expect(
                lines.dropFirst().elementsEqual([
                    "machine git.example login ada password plain-token",
                    "machine web.example login bob password \"two \\\"words\\\" \\\\\"",
                ]))
            let one = try tool.run(
                "run", "--no-masking", "--netrc", "--machine", "git.example", "--", "sh", "-c", "cat $NETRC")
            #expect(one.text == "machine git.example login ada password plain-token\n")
        }
    }

    @Test("A server without a password, or with one that fits no netrc, is named and nothing is started")
    func netrcMissing() throws {
        try withTool { (tool) throws in
            try addServers(tool)
            let run = [
                "run", "--netrc", "--machine", "nosuch.example", "--machine", "git.example", "--", "echo", "started",
            ]
            let missing = try tool.run(words: run)
            #expect(missing.status == 44)
            #expect(missing.output.isEmpty)
            #expect(
                missing.errors.contains("--machine nosuch.example: no internet password matches server nosuch.example"))
            let mail = try tool.run("run", "--netrc", "--machine", "mail.example", "--", "echo", "started")
            #expect(mail.status == 206)
            #expect(mail.output.isEmpty)
        }
    }

    @Test("A password for a port, a path or one of two protocols is in no netrc, which has a place for a server alone")
    func netrcOfOnePlace() throws {
        try withTool { (tool) throws in
            for (server, options) in [
                ("port.example", ["--protocol", "https", "--port", "8443"]), ("path.example", ["--path", "/p"]),
                ("usual.example", ["--protocol", "https", "--port", "443"]), ("any.example", ["--port", "8080"]),
                ("two.example", ["--protocol", "https"]), ("two.example", ["--protocol", "ftp"]),
                ("Three.example", ["--protocol", "https"]), ("three.example", ["--protocol", "ftp"]),
            ] {
                let words = ["add", "internet", "--server", server, "--account", "ada"] + options
                #expect(try tool.run(words: words, input: Data("pw".utf8)).status == 0)
            }
            let all = try tool.run("run", "--no-masking", "--netrc", "--", "sh", "-c", "cat $NETRC")
            #expect(all.text == "machine usual.example login ada password pw\n")
            #expect(all.errors.contains("7 passwords left out"))
            for server in ["port.example", "path.example", "any.example", "two.example"] {
                let one = try tool.run("run", "--netrc", "--machine", server, "--", "echo", "started")
                #expect(one.status == 206 && one.output.isEmpty, "\(server)")
            }
        }
    }

    private func addServers(_ tool: Tool) throws {
        for (server, account, name, secret) in [
            ("git.example", "ada", "https", "plain-token"), ("web.example", "bob", "http", "two \"words\" \\"),
            ("mail.example", "ada", "imap", "mail-secret"), ("lines.example", "ada", "https", "two\nlines"),
        ] {
            let item = ["add", "internet", "--server", server, "--account", account, "--protocol", name]
            #expect(try tool.run(words: item, input: Data(secret.utf8)).status == 0)
        }
    }
}
