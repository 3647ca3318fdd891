import Foundation
import KeychainTestSupport
import Testing

/// The command that starts others with secrets.
@Suite struct RunTests {
    @Test("A reference becomes the secret, exactly, and everything else of the environment stays")
    func environment() throws {
        try withSecrets(["api": "it's \"this\"\nand that\n"]) { (tool) throws in
            var tool = tool
            tool.variables["API"] = "keychain://generic/api/ada"
            tool.variables["OTHER"] = "as it was"
            let outcome = try tool.run("run", "--no-masking", "--", "env", "-0")
            #expect(outcome.status == 0)
            tool.variables["API"] = "it's \"this\"\nand that\n"
            let plain = try tool.start(URL(fileURLWithPath: "/usr/bin/env"), ["-0"], input: Data())
            #expect(Set(outcome.text.split(separator: "\0")) == Set(plain.text.split(separator: "\0")))
        }
    }

    @Test("Variables whose names are no text stay what they are, beside one that has a secret")
    func otherNames() throws {
        try withSecrets(["a": "secret-value"]) { (tool) throws in
            let program = """
                import os
                names = {b"A\\xff": b"keychain://generic/a/ada", b"A\\xfe": b"other", b"S": b"keychain://generic/a/ada"}
                os.execve(os.environ["K"], ["keychainctl", "run", "--", "/usr/bin/env", "-0"], {**os.environb, **names})
                """
            try Data(program.utf8).write(to: tool.home.appendingPathComponent("program.py"))
            let variables = try tool.shell("python3 $HOME/program.py").output.split(separator: 0).map(Array.init)
            #expect(variables.contains(Array("S=<masked>".utf8)) || variables.contains(Array("S=secret-value".utf8)))
            #expect(variables.contains(Array("A".utf8) + [0xff] + Array("=keychain://generic/a/ada".utf8)))
            #expect(variables.contains(Array("A".utf8) + [0xfe] + Array("=other".utf8)))
        }
    }

    @Test("Bytes that are no text pass through arguments and variables as they are")
    func rawBytes() throws {
        try withSecrets(["api": "secret-one"]) { (tool) throws in
            let line =
                "B=$(printf '\\377') $K run -- printf '%s|%s' \"$(printf '\\376')\" \"$(printf '\\375')\" && "
                + "B=$(printf '\\377') $K run -- sh -c 'printf %s \"$B\"'"
            #expect(try tool.shell(line).output == Data([0xfe, 0x7c, 0xfd, 0xff]))
        }
    }

    @Test(
        "A reference names an item by what it has, and a part of its secret",
        arguments: [
            ("keychain://generic/a%2Fb%20c/me@example.com", "slash"),
            ("keychain://internet/host/me?port=8443&protocol=https", "by port"),
            ("keychain://internet/host/me?path=%2Fother", "by path"),
            ("keychain://generic/lines/ada#line1", "first line"),
            ("keychain://generic/lines/ada#line3", "url: last"),
            ("keychain://generic/lines/ada#user", "ada lovelace"),
            ("keychain://generic/lines/ada?group=other", "of another group"),
        ])
    func references(reference: String, secret: String) throws {
        try withTool { (tool) throws in
            var tool = tool
            for (item, secret) in [
                (["generic", "--service", "a/b c", "--account", "me@example.com"], "slash"),
                (
                    ["internet", "--server", "host", "--account", "me", "--port", "8443", "--protocol", "https"],
                    "by port"
                ),
                (["internet", "--server", "host", "--account", "me", "--path", "/other"], "by path"),
                (["generic", "--service", "lines", "--account", "ada"], "first line\nuser:  ada lovelace\nurl: last"),
                (["generic", "--service", "lines", "--account", "ada", "--group", "other"], "of another group"),
            ] {
                #expect(try tool.run(words: ["add"] + item, input: Data(secret.utf8)).status == 0)
            }
            // Two of that name: the group is part of those references that do not say it.
            tool.variables["S"] =
                reference.contains("lines") && !reference.contains("?")
                ? reference.replacing("ada#", with: "ada?group=keychain#") : reference
            #expect(try tool.run("run", "--no-masking", "--", "printenv", "S").text == secret + "\n")
        }
    }

    @Test(
        "What is no valid reference is told with its variable, and nothing is started",
        arguments: [
            "keychain://generic/only", "keychain://other/a/b", "keychain://generic/a/b/c", "keychain://generic//b",
            "keychain://generic/a/b%2", "keychain://generic/a/b%ff", "keychain://generic/a/b?port=1",
            "keychain://internet/a/b?port=70000", "keychain://internet/a/b?protocol=nosuch",
            "keychain://generic/a/b?group", "keychain://generic/a/b?group=x&group=y", "keychain://generic/a/b#",
            "keychain://generic/a/b#line0", "keychain://",
        ])
    func invalidReferences(reference: String) throws {
        try withSecrets(["a": "secret"]) { (tool) throws in
            var tool = tool
            tool.variables["BAD"] = reference
            let outcome = try tool.run("run", "--", "sh", "-c", "echo started")
            #expect(outcome.status == 206)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("keychainctl: BAD: "))
        }
    }

    @Test("All that is missing is named at once, and nothing is started")
    func missing() throws {
        try withSecrets(["there": "secret"]) { (tool) throws in
            var tool = tool
            tool.variables["A"] = "keychain://generic/nosuch/ada"
            tool.variables["B"] = "keychain://generic/there/ada"
            tool.variables["C"] = "keychain://internet/nosuch.example/bob"
            let outcome = try tool.run("run", "--", "sh", "-c", "echo started")
            #expect(outcome.status == 44)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("A: no generic password matches service nosuch, account ada"))
            #expect(outcome.errors.contains("C: no internet password matches account bob, server nosuch.example"))
            #expect(!outcome.errors.contains("B:"))
            tool.variables["A"] = "keychain://generic/there/ada#line2"
            #expect(
                try tool.run("run", "--", "true").errors.contains("A: the secret of that item has no line2") == false)
            tool.variables["C"] = nil
            #expect(try tool.run("run", "--", "true").errors.contains("A: the secret of that item has no line2"))
        }
    }

    @Test("Without a keychain the variables are named that need one, and no keychain is made")
    func noStore() throws {
        try withTool { (tool) throws in
            var tool = tool
            #expect(try tool.run("run", "--", "echo", "started").text == "started\n")
            tool.variables["A"] = "keychain://generic/nosuch/ada"
            let outcome = try tool.run("run", "--", "echo", "started")
            #expect(outcome.status == 44)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("A: there is no keychain in "))
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test("--only leaves other references as they are, and names one that is none")
    func only() throws {
        try withSecrets(["a": "secret-a", "b": "secret-b"]) { (tool) throws in
            var tool = tool
            (tool.variables["A"], tool.variables["B"]) = ("keychain://generic/a/ada", "keychain://generic/nosuch/ada")
            let outcome = try tool.run("run", "--only", "A", "--no-masking", "--", "sh", "-c", "echo $A $B")
            #expect(outcome.text == "secret-a keychain://generic/nosuch/ada\n")
            let wrong = try tool.run("run", "--only", "HOME", "--", "echo", "started")
            #expect(wrong.status == 206)
            #expect(wrong.output.isEmpty)
            #expect(wrong.errors.contains("--only HOME"))
        }
    }

    @Test("A secret with a zero byte is no variable, and a file or input of any bytes")
    func zeroByte() throws {
        try withTool { (tool) throws in
            var tool = tool
            let secret = Data([1, 0, 2, 0xff])
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: secret)
            tool.variables["S"] = "keychain://generic/s/a"
            let refused = try tool.run("run", "--", "echo", "started")
            #expect(refused.status == 206)
            #expect(refused.output.isEmpty)
            #expect(refused.errors.contains("--file S"))
            #expect(try tool.run("run", "--file", "S", "--", "sh", "-c", "cat $S; cat $S").output == secret + secret)
            #expect(try tool.run("run", "--stdin", "S", "--", "cat").output == secret)
        }
    }

    @Test("A memory file is on no disk, cannot be changed, and is the only place with the secret")
    func memoryFile() throws {
        try withSecrets(["a": "secret-of-file"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let script =
                "readlink -f $S; (echo x >> $S) 2>/dev/null || echo refused; cat $S; echo; "
                + "tr '\\0' '\\n' < /proc/$$/environ | grep -c 'secret[-]of'; tr '\\0' ' ' < /proc/$$/cmdline | grep -c 'secret[-]of'"
            let outcome = try tool.run("run", "--no-masking", "--file", "S", "--", "sh", "-c", script)
            let lines = outcome.text.split(separator: "\n")
            #expect(lines.count == 5)
            #expect(lines.first?.hasPrefix("/memfd:keychainctl") == true)
            #expect(lines.dropFirst().elementsEqual(["refused", "secret-of-file", "0", "0"]))
        }
    }

    @Test("What goes to standard input is not in the environment")
    func standardInput() throws {
        try withSecrets(["a": "secret-of-input"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let outcome = try tool.run(
                "run", "--no-masking", "--stdin", "S", "--", "sh", "-c", "cat; echo \"/${S-none}\"")
            #expect(outcome.text == "secret-of-input/none\n")
        }
    }

    @Test(
        "The store is closed while the command runs, and no descriptor of ours is in it",
        arguments: ["", "--no-masking"])
    func descriptors(option: String) throws {
        try withSecrets(["a": "secret-of-file"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            // In one shell, since other tests open and close descriptors that it inherits. ls complains of those that 'run'
            // closes while they are listed.
            let line = """
                ls /proc/self/fd > $HOME/before
                $K run \(option) -- ls /proc/self/fd > $HOME/within; cmp $HOME/before $HOME/within
                $K run \(option) -- sh -c 'ls -l /proc/$$/fd /proc/$PPID/fd 2> $HOME/ls' > $HOME/all
                grep -c "$HOME/data" $HOME/all; grep -c "^/proc/.*/fd:" $HOME/all
                """
            let outcome = try tool.shell(line)
            #expect(outcome.text == "0\n2\n")
            #expect(outcome.errors.isEmpty)
        }
    }

    @Test("One question serves all items, however many ask for authentication")
    func oneQuestion() throws {
        try withPasscode { (tool) throws in
            for account in ["a", "b", "c"] {
                try tool.run(
                    "add", "generic", "--service", "s", "--account", account, "--require", "passcode",
                    input: Data("secret-\(account)".utf8))
            }
            var asked = try tool.answering(Tool.passcode)
            for account in ["a", "b", "c"] { asked.variables["V\(account)"] = "keychain://generic/s/\(account)" }
            let run = ["run", "--no-masking", "--", "sh", "-c", "echo $Va $Vb $Vc"]
            #expect(try asked.run(words: run).text == "secret-a secret-b secret-c\n")
            #expect(try asked.dialog().split(separator: "\n").count { $0.hasPrefix("GETPIN") } == 1)
            #expect(try asked.dialog().contains("run sh with Va, Vb, Vc"))
            let silent = try asked.run("run", "--no-interaction", "--", "echo", "started")
            #expect(silent.status == 36)
            #expect(silent.output.isEmpty)
        }
    }

    @Test("What is locked is 36 and named, also beside what is missing", .enabled(if: Tool.sharesKeys))
    func locked() throws {
        try withPasscode { (tool) throws in
            try tool.add("a")
            try tool.add("b", accessible: "always")
            try tool.run("lock")
            var tool = tool
            tool.variables["A"] = "keychain://generic/s/a"
            tool.variables["B"] = "keychain://generic/s/b"
            tool.variables["C"] = "keychain://generic/nosuch/c"
            let outcome = try tool.run("run", "--", "echo", "started")
            #expect(outcome.status == 36)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("A: "))
            #expect(outcome.errors.contains("locked"))
            #expect(!outcome.errors.contains("B: "))
            tool.variables["A"] = nil
            #expect(try tool.run("run", "--no-masking", "--only", "B", "--", "printenv", "B").text == "secret\n")
        }
    }

    @Test(
        "The exit status is the command's, or says why there was none",
        arguments: [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -TERM $$", 143), ("kill -KILL $$", 137)])
    func status(line: String, status: Int32) throws {
        try withSecrets(["a": "secret-value"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            for option in ["", "--no-masking"] {
                let outcome = try tool.shell("$K run \(option) -- sh -c '\(line)'; echo $?")
                #expect(outcome.text == "\(status)\n")
            }
        }
    }

    @Test(
        "A command that cannot be started ends with the status that shells have for it",
        arguments: [("nosuch", 127), ("/etc/passwd", 126), ("/", 126)])
    func notStarted(command: String, status: Int32) throws {
        try withSecrets(["a": "secret-value"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            for options in [[], ["--no-masking"]] {
                let outcome = try tool.run(words: ["run"] + options + ["--", command])
                #expect(outcome.status == status)
                #expect(outcome.errors.hasPrefix("keychainctl: cannot start \(command): "))
            }
        }
    }

    @Test("A secret that no variable can hold is told with what to do, and goes into a file")
    func tooLarge() throws {
        try withSecrets(["a": String(repeating: "x", count: 200_000)]) { (tool) throws in
            var tool = tool
            tool.variables["BIG"] = "keychain://generic/a/ada"
            for options in [[], ["--no-masking"]] {
                let outcome = try tool.run(words: ["run"] + options + ["--", "true"])
                #expect(outcome.status == 126)
                #expect(outcome.errors.contains("128 KiB: hand BIG over as a file, with --file"))
            }
            #expect(try tool.run("run", "--file", "BIG", "--", "sh", "-c", "wc -c < $BIG").text == "200000\n")
        }
    }

    @Test(
        "Mistakes on the command line end with 64 and start nothing",
        arguments: [
            "run", "run --", "run echo started", "run --nosuch -- echo started", "run --machine h -- echo started",
            "run --file S --stdin S -- echo started", "run -- ''", "run env -i",
        ])
    func usage(line: String) throws {
        try withTool { (tool) throws in
            let outcome = try tool.shell("$K \(line)")
            #expect(outcome.status == 64)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("Usage: keychainctl"))
        }
    }

    @Test("Without -- the message says where it belongs; help is help")
    func advice() throws {
        try withTool { (tool) throws in
            #expect(try tool.run("run", "make").errors.contains("keychainctl run … -- make …"))
            #expect(try tool.run("run", "--help").status == 0)
            #expect(try tool.run("run", "--netrc", "--help").text.contains("USAGE: keychainctl run"))
            #expect(try tool.run("run", "--", "sh", "-c", "echo $0", "--help").text == "--help\n")
        }
    }
}

/// Runs `body` with the command and a generic password of account "ada" for each service.
func withSecrets(_ secrets: [String: String], _ body: (Tool) throws -> Void) throws {
    try withTool { (tool) throws in
        for (service, secret) in secrets {
            let added = try tool.run(
                "add", "generic", "--service", service, "--account", "ada", input: Data(secret.utf8))
            #expect(added.status == 0)
        }
        try body(tool)
    }
}
