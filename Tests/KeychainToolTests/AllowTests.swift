import Foundation
import KeychainModel
import KeychainRun
import Testing

/// A project's own file, which counts when it was allowed.
@Suite struct AllowTests {
    private static let content = """
        # What the tests of this project need.
        command = "echo \\"$API $LOG $PWD\\""

        [environment]
        API = "keychain://generic/api/ada"  # the token
        LOG = 'debug'
        """

    /// With a project whose file has this content, in the directory `project`; commands run in `project/below`.
    private func withProject(_ content: String = content, _ body: (Tool, URL) throws -> Void) throws {
        try withSecrets(["api": "secret-value"]) { (tool) throws in
            let file = tool.home.appendingPathComponent("project/keychain.toml")
            let below = file.deletingLastPathComponent().appendingPathComponent("below")
            try FileManager.default.createDirectory(at: below, withIntermediateDirectories: true)
            try Data(content.utf8).write(to: file)
            try body(tool, file)
        }
    }

    private func run(_ tool: Tool, _ line: String) throws -> Tool.Outcome {
        try tool.shell("cd $HOME/project/below && \(line)")
    }

    @Test("Until it is allowed nothing is started; then its variables count, in its directory and below")
    func allow() throws {
        try withProject { (tool, file) throws in
            let before = try run(tool, "$K run -- echo started")
            #expect(before.status == 1)
            #expect(before.output.isEmpty)
            #expect(before.errors.contains("\(file.path) is not allowed: look at it with 'keychainctl allow'"))
            #expect(try run(tool, "$K run --no-project -- echo started").text == "started\n")

            let allowed = try run(tool, "$K allow --yes")
            #expect(allowed.status == 0)
            #expect(allowed.text.contains("API  the secret of the generic password service api, account ada"))
            #expect(allowed.text.contains("LOG  = debug"))
            #expect(allowed.text.contains("runs  echo"))
            #expect(try run(tool, "$K run --no-masking -- sh -c 'echo $API $LOG'").text == "secret-value debug\n")
            let ownCommand = try run(tool, "$K run")
            #expect(ownCommand.text.hasPrefix("<masked> debug "))
            #expect(ownCommand.status == 0)
            #expect(try tool.run("run", "--", "echo", "elsewhere").text == "elsewhere\n")
        }
    }

    @Test("A changed file does not count any more, and the message says that it has changed")
    func changed() throws {
        try withProject { (tool, file) throws in
            #expect(try run(tool, "$K allow --yes").status == 0)
            try Data((Self.content + "\nMORE = \"keychain://generic/bank/ada\"\n").utf8).write(to: file)
            let outcome = try run(tool, "$K run -- echo started")
            #expect(outcome.status == 1)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("has changed since it was allowed"))
            try Data(Self.content.utf8).write(to: file)
            #expect(try run(tool, "$K run -- echo started").text == "started\n")
        }
    }

    @Test("The same file at another place is not allowed")
    func otherPlace() throws {
        try withProject { (tool, _) throws in
            #expect(try run(tool, "$K allow --yes").status == 0)
            let line = "cp -r $HOME/project $HOME/copy && cd $HOME/copy && $K run -- echo started"
            let outcome = try tool.shell(line)
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("is not allowed"))
        }
    }

    @Test("What was allowed is taken back, also when the file is gone", arguments: ["deny", "allow --remove"])
    func deny(command: String) throws {
        try withProject { (tool, file) throws in
            #expect(try run(tool, "$K allow --yes").status == 0)
            #expect(try run(tool, "$K \(command)").status == 0)
            #expect(try run(tool, "$K run -- echo started").status == 1)
            #expect(try run(tool, "$K \(command)").status == 44)
            #expect(try run(tool, "$K allow --yes .. && rm ../keychain.toml && $K \(command) ..").status == 0)
            #expect(try run(tool, "$K \(command)").status == 44)
        }
    }

    @Test("A person sees what is asked for, and anything but yes allows nothing", arguments: [("yes", 0), ("no", 128)])
    func question(answer: String, status: Int32) throws {
        let content = "[environment]\nA = \"keychain://generic/api/ada\"\nB = \"\\u001b[2J\"\n"
        try withProject(content) { (tool, file) throws in
            let session = try TerminalSession(
                tool, words: ["allow", file.path], showsOutput: true)
            try session.answer("Type yes to go on: ", answer)
            #expect(try session.end() == status)
            #expect(session.transcript.contains("A  the secret of the generic password service api, account ada"))
            #expect(session.transcript.contains("\\u{1b}[2J"))
            #expect(!session.transcript.contains("\u{1b}"))
            #expect(try run(tool, "$K run -- true").status == (status == 0 ? 0 : 1))
        }
    }

    @Test("Where nobody can be asked --yes is needed")
    func nobody() throws {
        try withProject { (tool, _) throws in
            #expect(try run(tool, "$K allow").status == 64)
            #expect(try run(tool, "$K run -- echo started").status == 1)
        }
    }

    @Test("A link in the file's place is refused, by allow and by run")
    func link() throws {
        try withProject { (tool, file) throws in
            #expect(try run(tool, "$K allow --yes").status == 0)
            let line = "mv ../keychain.toml ../other.toml && ln -s other.toml ../keychain.toml"
            #expect(try run(tool, line).status == 0)
            for command in ["$K run -- echo started", "$K allow --yes"] {
                let outcome = try run(tool, command)
                #expect(outcome.status == 53)
                #expect(outcome.errors.contains("\(file.path) does not count"))
            }
        }
    }

    @Test("A directory that a link leads to is one place, whichever way one comes")
    func linkedDirectory() throws {
        try withProject { (tool, _) throws in
            #expect(try tool.shell("ln -s project $HOME/other && $K allow --yes $HOME/other/keychain.toml").status == 0)
            #expect(try tool.shell("cd $HOME/other/below && $K run -- echo started").text == "started\n")
        }
    }

    @Test("A file of another user is refused", .enabled(if: geteuid() == 0))
    func otherOwner() throws {
        try withProject { (tool, file) throws in
            #expect(try run(tool, "$K allow --yes").status == 0)
            #expect(chown(file.path, 65534, 65534) == 0)
            for command in ["$K run -- echo started", "$K allow --yes"] {
                let outcome = try run(tool, command)
                #expect(outcome.status == 53)
                #expect(outcome.output.isEmpty)
                #expect(outcome.errors.contains("a file of your own"))
            }
        }
    }

    // MARK: Env files

    /// An env file in a clone, with a reference, and how it comes to be somebody else's.
    private static let foreign = [
        ("git init -q .", "is in a repository"), ("mkdir .hg", "is in a repository"),
        ("mkdir ../.jj", "is in a repository"),
        ("chmod 664 .env", "may be written to by other users, which 'chmod go-w' ends"),
        ("chmod 646 .env", "may be written to by other users, which 'chmod go-w' ends"),
        ("echo 'gitdir: elsewhere' >.git", "is in a repository"),
    ]

    private func withEnvironmentFile(
        _ content: String = "API=keychain://generic/api/ada\nTOKEN=plain-secret\n", _ body: (Tool, URL) throws -> Void
    ) throws {
        try withSecrets(["api": "secret-value"]) { (tool) throws in
            let file = tool.home.appendingPathComponent("clone/below/.env")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(content.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            try body(tool, file)
        }
    }

    private static let show = "-- sh -c 'echo $API'"

    @Test("An env file that others may have written gives no secret until it is allowed", arguments: foreign)
    func foreignEnvironmentFile(change: String, reason: String) throws {
        try withEnvironmentFile { (tool, file) throws in
            func run(_ line: String) throws -> Tool.Outcome { try tool.shell("cd $HOME/clone/below && \(line)") }
            let line = "$K run --no-masking --env-file .env"
            #expect(try run("\(line) \(Self.show)").text == "secret-value\n")
            #expect(try run(change).status == 0)
            let refused = try run("\(line) \(Self.show)")
            #expect(refused.status == 1 && refused.output.isEmpty)
            #expect(refused.errors.contains("\(file.path) \(reason): "))
            #expect(refused.errors.contains("--allow"))
            // For a script; nothing is remembered.
            #expect(try run("\(line) --allow \(Self.show)").text == "secret-value\n")
            #expect(try run("\(line) \(Self.show)").status == 1)
            let allowed = try run("$K allow --yes .env")
            #expect(allowed.text.contains("API  the secret of the generic password service api, account ada"))
            #expect(allowed.text.contains("TOKEN  = …") && !allowed.text.contains("plain-secret"))
            #expect(try run("\(line) \(Self.show)").text == "secret-value\n")
            #expect(
                try run("echo B=keychain://generic/bank/ada >>.env; \(line) \(Self.show)").errors.contains("changed"))
            #expect(try run("$K deny .env").status == 0)
            #expect(try run("\(line) \(Self.show)").status == 1)
        }
    }

    @Test("An env file without references needs no permission, wherever it is; nor do a pipe and standard input")
    func needsNoPermission() throws {
        try withEnvironmentFile("LEVEL=debug\n") { (tool, _) throws in
            let outcome = try tool.shell(
                "cd $HOME/clone && git init -q . && $K run --env-file below/.env -- printenv LEVEL")
            #expect(outcome.text == "debug\n")
            let reference = "echo API=keychain://generic/api/ada"
            let piped = "cd $HOME/clone && \(reference) | $K run --no-masking --env-file"
            #expect(try tool.shell("\(piped) /dev/stdin -- printenv API").text == "secret-value\n")
            #expect(try tool.shell("\(piped) - -- printenv API").text == "secret-value\n")
        }
    }

    @Test("A link out of a repository and a link into one lead to a file of the repository")
    func linkedEnvironmentFile() throws {
        try withEnvironmentFile { (tool, _) throws in
            let line = "cd && git init -q clone && mv clone/below/.env own && ln -s ../../own clone/below/.env"
            #expect(try tool.shell(line).status == 0)
            #expect(try tool.shell("cd && $K run --env-file clone/below/.env -- true").status == 1)
            #expect(try tool.shell("cd && $K run --env-file own -- true").status == 0)
            #expect(try tool.shell("cd && mv own clone/env && ln -s clone/env own").status == 0)
            #expect(try tool.shell("cd && $K run --env-file own -- true").status == 1)
        }
    }

    @Test("A file whose place cannot be written down may be a repository's, and its permission is not remembered")
    func hiddenPlace() throws {
        try withEnvironmentFile { (tool, _) throws in
            // Reached by links, since an argument is text.
            let script = """
                cd; git init -q clone; n=$(printf 'caf\\351'); mkdir "clone/$n"; cp clone/below/.env "clone/$n/.env"
                ln -s "clone/$n/.env" file; ln -s "clone/$n" directory
                """
            #expect(try tool.shell(script).status == 0)
            for path in ["file", "directory/.env"] {
                let refused = try tool.shell("cd; $K run --no-masking --env-file \(path) \(Self.show)")
                #expect(refused.status == 1 && refused.output.isEmpty, "\(path)")
                #expect(refused.errors.contains("lies in a directory that cannot be looked at"))
                // What would not help is not advised.
                #expect(!refused.errors.contains("keychainctl allow"))
                let once = try tool.shell("cd; $K run --no-masking --allow --env-file \(path) \(Self.show)")
                #expect(once.text == "secret-value\n")
                #expect(try tool.shell("cd; $K allow --yes \(path)").status != 0)
            }
        }
    }

    @Test("A file at the end of a path that is too long for the system may be a repository's")
    func longPath() throws {
        try withEnvironmentFile { (tool, _) throws in
            let program = """
                import os, subprocess, sys
                os.chdir(os.environ["HOME"])
                subprocess.run(["git", "init", "-q", "clone"], check=True)
                os.chdir("clone")
                for _ in range(25):
                    os.mkdir("d" * 200)
                    os.chdir("d" * 200)
                open(".env", "w").write("API=keychain://generic/api/ada\\n")
                here = os.open(".", os.O_RDONLY)
                path = "/proc/self/fd/%d/.env" % here
                sys.exit(subprocess.run([os.environ["K"], "run", "--no-project", "--env-file", path, "--", "printenv", "API"],
                    cwd="/", pass_fds=[here]).returncode)
                """
            let file = try tool.write(program, to: "long.py")
            let outcome = try tool.shell("python3 '\(file.path)'; status=$?; rm -rf $HOME/clone; exit $status")
            #expect(outcome.status == 1 && outcome.output.isEmpty)
            #expect(outcome.errors.contains("lies in a directory that cannot be looked at"))
        }
    }

    @Test("A file of a repository is one on standard input too")
    func standardInput() throws {
        try withEnvironmentFile { (tool, file) throws in
            #expect(try tool.shell("git init -q $HOME/clone").status == 0)
            let line = "cd $HOME/clone/below && $K run --no-masking --env-file - \(Self.show) <.env"
            let refused = try tool.shell(line)
            #expect(refused.status == 1 && refused.errors.contains("\(file.path) is in a repository"))
            #expect(try tool.shell("$K allow --yes '\(file.path)'").status == 0)
            #expect(try tool.shell(line).text == "secret-value\n")
        }
    }

    @Test(
        "A file of others without references needs permission as soon as the command gets a secret from elsewhere",
        arguments: ["reference", "own file", "netrc"])
    func secretFromElsewhere(source: String) throws {
        let content = "LEVEL=debug\nPATH=/elsewhere:/usr/bin:/bin\nTOKEN=plain-secret\n"
        try withEnvironmentFile(content) { (tool, _) throws in
            #expect(try tool.run("add", "internet", "--server", "h", "--account", "ada").status == 0)
            let options = [
                "reference": "", "own file": "--env-file $HOME/own", "netrc": "--netrc --machine h",
            ]
            let reference = "API=keychain://generic/api/ada"
            let script = """
                git init -q $HOME/clone && cd $HOME/clone/below && echo '\(reference)' >$HOME/own
                \(source == "reference" ? "export \(reference)" : "")
                $K run --no-masking \(options[source] ?? "") --env-file .env -- sh -c 'echo $LEVEL'
                """
            let refused = try tool.shell(script)
            #expect(refused.status == 1 && refused.output.isEmpty)
            #expect(refused.errors.contains("is in a repository"))
            // The variables that decide what is run are shown; others may be secrets.
            let allowed = try tool.shell("$K allow --yes $HOME/clone/below/.env")
            #expect(allowed.text.contains("  PATH  = /elsewhere:/usr/bin:/bin\n"))
            #expect(allowed.text.contains("  TOKEN  = …\n") && !allowed.text.contains("plain-secret"))
            #expect(try tool.shell(script).text == "debug\n")
        }
    }

    @Test("The command that is advised works as it stands, with its store and an odd path")
    func advice() throws {
        try withEnvironmentFile { (tool, file) throws in
            let script = """
                cd && mv clone "it's a clone" && cd "it's a clone" && git init -q . && mv "$XDG_DATA_HOME" other
                mv other "$HOME/an other" && cd below
                line() { $K run --no-masking --store "$HOME/an other/keychain" --env-file .env \(Self.show); }
                line 2>$HOME/said && exit 1
                tr -d '\\n' <$HOME/said | sed "s/  */ /g; s/.*look at it with '\\(keychainctl allow.*\\)', let it .*/\\1/" >$HOME/advice
                keychainctl() { $K "$@" --yes; }
                . $HOME/advice && line
                """
            let outcome = try tool.shell(script)
            #expect(outcome.text.hasSuffix("secret-value\n"), "\(outcome.errors)")
        }
    }

    @Test("A question is seen at the terminal where errors go to a file")
    func questionBesideErrors() throws {
        try withEnvironmentFile { (tool, file) throws in
            #expect(try tool.shell("git init -q $HOME/clone").status == 0)
            let line = "exec $K run --env-file '\(file.path)' -- true 2>$HOME/log"
            let session = try TerminalSession(tool, program: "/bin/sh", words: ["-c", line], showsOutput: true)
            try session.answer("Type yes to go on: ", "yes")
            #expect(try session.end() == 0)
            #expect(session.transcript.contains("the secret of the generic password service api, account ada"))
            #expect(session.transcript.contains("is in a repository"))
        }
    }

    @Test("References come last before the question, behind any number of plain values")
    func referencesLast() throws {
        let plain = (1...300).map { "PLAIN\($0)=x\n" }.joined()
        try withEnvironmentFile("API=keychain://generic/api/ada\nBASH_ENV=./x\n" + plain) { (tool, file) throws in
            let lines = try tool.run("allow", "--yes", file.path).text.split(separator: "\n")
            #expect(lines.count == 303)
            #expect(lines.last == "  API  the secret of the generic password service api, account ada")
            #expect(lines.dropLast().last == "  BASH_ENV  = ./x")
        }
    }

    @Test("An env file of another user needs permission", .enabled(if: geteuid() == 0))
    func environmentFileOfAnother() throws {
        try withEnvironmentFile { (tool, file) throws in
            #expect(chown(file.path, 65534, 65534) == 0)
            let refused = try tool.run("run", "--env-file", file.path, "--", "echo", "started")
            #expect(refused.status == 1 && refused.errors.contains("belongs to another user"))
            #expect(try tool.run("allow", "--yes", file.path).status == 0)
            #expect(try tool.run("run", "--env-file", file.path, "--", "echo", "started").text == "started\n")
        }
    }

    @Test("A person at a terminal is asked once, with what is asked for", arguments: ["keychain.toml", ".env"])
    func askedOnce(name: String) throws {
        try withEnvironmentFile { (tool, file) throws in
            let project = file.deletingLastPathComponent().appendingPathComponent("keychain.toml")
            if name == "keychain.toml" {
                try Data("[environment]\nAPI = \"keychain://generic/api/ada\"\n".utf8).write(to: project)
            }
            #expect(try tool.shell("git init -q $HOME/clone").status == 0)
            let words = ["run"] + (name == ".env" ? ["--env-file", file.path] : []) + ["--", "printenv", "API"]
            let asking = ["-c", "cd $HOME/clone/below && exec $K \(words.joined(separator: " "))"]
            let declined = try TerminalSession(tool, program: "/bin/sh", words: asking, showsOutput: true)
            try declined.answer("Type yes to go on: ", "no")
            #expect(try declined.end() == 128)
            #expect(!declined.transcript.contains("secret-value"))
            let agreed = try TerminalSession(tool, program: "/bin/sh", words: asking, showsOutput: true)
            try agreed.answer("Type yes to go on: ", "yes")
            #expect(try agreed.end() == 0)
            #expect(agreed.transcript.contains("the secret of the generic password service api, account ada"))
            #expect(agreed.transcript.contains("secret-value"))
            let again = try TerminalSession(tool, program: "/bin/sh", words: asking, showsOutput: true)
            #expect(try again.end() == 0)
            #expect(again.transcript == "secret-value\r\n")
        }
    }

    @Test("Nobody is asked with --no-interaction")
    func noInteraction() throws {
        try withEnvironmentFile { (tool, file) throws in
            #expect(try tool.shell("git init -q $HOME/clone").status == 0)
            let session = try TerminalSession(
                tool, words: ["run", "--no-interaction", "--env-file", file.path, "--", "true"])
            #expect(try session.end() == 1)
        }
    }

    @Test("The record of what was allowed is its owner's alone; others' hands on it make it worthless")
    func record() throws {
        try withProject { (tool, file) throws in
            #expect(try run(tool, "$K allow --yes").status == 0)
            let record = tool.deviceKey.appendingPathComponent("allowed")
            let attributes = try FileManager.default.attributesOfItem(atPath: record.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try String(contentsOf: record, encoding: .utf8).hasSuffix(" \(file.path)\n"))
            for damage in ["chmod 666 \(record.path)", "echo x > \(record.path)", "ln -sf /etc/passwd \(record.path)"] {
                #expect(try tool.shell(damage).status == 0)
                let outcome = try run(tool, "$K run -- echo started")
                #expect(outcome.status != 0, "\(damage)")
                #expect(outcome.output.isEmpty)
                #expect(outcome.errors.contains(record.path))
            }
        }
    }

    @Test("--json tells what was allowed")
    func json() throws {
        try withProject { (tool, file) throws in
            let object = try run(tool, "$K allow --yes --json").object
            #expect(object["path"] as? String == file.path)
            #expect(object["allowed"] as? Bool == true)
            #expect((object["sha256"] as? String)?.count == 64)
            #expect(object["command"] as? String == "echo \"$API $LOG $PWD\"")
            #expect((object["environment"] as? [String: String])?["LOG"] == "debug")
            #expect(try run(tool, "$K deny --json").object["allowed"] as? Bool == false)
        }
    }

    @Test(
        "What is not understood is refused with its place, whatever else the file has",
        arguments: [
            ("command = make", "1:11"), ("[environment]\nA = 1", "2:5"), ("[environment]\nA = [\"x\"]", "2:5"),
            ("[environment]\nA.b = \"x\"", "2:2"), ("[other]\n", "1:1"), ("name = \"x\"", "1:1"),
            ("[environment]\nA = \"\"\"x\"\"\"", "2:5"), ("[environment]\n\"A\" = \"x\"", "2:1"),
            ("[environment]\nA = \"x\" B = \"y\"", "2:9"), ("[environment]\nA = \"\\q\"", "2:6"),
            ("[environment]\nA = \"x\"\nA = \"y\"", "3:1"), ("[environment]\n[environment]", "2:1"),
            ("[environment]\nA = 'x\n", "2:5"), ("[environment]\nA = \"\\u0000\"", "2:6"), ("[[environment]]", "1:1"),
            ("command = \"a\"\ncommand = \"b\"", "2:1"),
        ])
    func mistakes(content: String, place: String) throws {
        try withProject(content) { (tool, file) throws in
            let outcome = try run(tool, "$K allow --yes")
            #expect(outcome.status == 206)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("\(file.path):\(place): "))
        }
    }

    @Test("A reference means the same in each way to write it")
    func waysToWrite() throws {
        for (text, other) in [
            ("keychain://generic/a b/c", "keychain://generic/a%20b/c"),
            ("keychain://generic/%61/%2f#x y", "keychain://generic/a/%2F#x%20y"),
            (
                "keychain://internet/h/u?path=/p&port=443&protocol=https",
                "keychain://internet/h/u?protocol=https&port=443&path=%2Fp"
            ),
        ] {
            #expect(try ItemReference(text) == ItemReference(other))
        }
    }
}
