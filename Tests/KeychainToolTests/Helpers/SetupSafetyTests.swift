import Foundation
import Testing

/// What `keychainctl setup` owes to files that it did not write, and to tools that read several of them.
@Suite struct SetupSafetyTests {
    // MARK: git's other files

    /// Where a helper may stand besides the file that is changed: what is written, and the place that the note names.
    private static let places = [
        ("git config --file $HOME/system --add", "/system"),
        ("printf '[include]\\n\\tpath = more\\n' >$HOME/.gitconfig; git config --file $HOME/more --add", "/more"),
        ("git init -q; git config --local --add", ".git/config"),
        (
            "touch $HOME/.gitconfig; mkdir -p $HOME/.config/git; git config --file $HOME/.config/git/config --add",
            "/git/config"
        ),
    ]

    private func withGit(_ body: (Tool) throws -> Void) throws {
        try withHelpers { (plain) throws in
            var tool = plain
            tool.variables["GIT_CONFIG_SYSTEM"] = tool.home.appendingPathComponent("system").path
            try FileManager.default.createDirectory(
                at: tool.home.appendingPathComponent("work"), withIntermediateDirectories: true)
            try body(tool)
        }
    }

    private func setUp(_ tool: Tool, _ before: String, _ options: String = "git") throws -> Tool.Outcome {
        try tool.shell("cd $HOME/work && \(before); $K setup \(options)")
    }

    private func notes(_ outcome: Tool.Outcome) -> String {
        (outcome.objects.first?["notes"] as? [String] ?? []).joined(separator: "\n")
    }

    @Test("Another helper of git's is named with its file, wherever that is", arguments: places)
    func otherHelpers(command: String, place: String) throws {
        try withGit { (tool) throws in
            let outcome = try setUp(tool, "\(command) credential.helper store", "git --json")
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(notes(outcome).contains("helper 'store' too"))
            #expect(notes(outcome).contains(place))
        }
    }

    @Test("A helper for one URL is named with the URL, without a password in it")
    func helperOfURL() throws {
        try withGit { (tool) throws in
            let before = "git config --global --add credential.https://ada:pw@h.example.helper store"
            let outcome = try setUp(tool, before, "git --json")
            #expect(notes(outcome).contains("for https://h.example git has the helper 'store' too"))
            #expect(!notes(outcome).contains("pw@"))
        }
    }

    @Test("An empty helper in an included file does not switch ours off: git asks it after setup")
    func resetInIncludedFile() throws {
        try withGit { (tool) throws in
            let before = """
                printf '[credential]\\n\\thelper = keychain\\n[include]\\n\\tpath = more\\n' >$HOME/.gitconfig
                printf '[credential]\\n\\thelper =\\n' >$HOME/more
                """
            #expect(try setUp(tool, before).text.hasPrefix("git: changed"))
            let stored = "printf 'protocol=https\\nhost=h\\nusername=u\\npassword=pw\\n\\n' | git credential approve"
            #expect(try tool.shell("\(stored) && $K get h").text == "pw")
            #expect(try setUp(tool, ":").text.hasPrefix("git: set up\n"))
        }
    }

    @Test("An empty helper in a repository, or for a URL, is told, and the list does not say that git is set up there")
    func resetInRepository() throws {
        try withGit { (tool) throws in
            let outcome = try setUp(tool, "git init -q; git config --local --add credential.helper ''", "git --json")
            #expect(notes(outcome).contains("git does not ask the keychain"))
            #expect(notes(outcome).contains(".git/config"))
            #expect(outcome.objects.first?["isSetUp"] as? Bool == false)
            let listed = try setUp(tool, ":", "--list --json").objects.first { $0["tool"] as? String == "git" }
            #expect(listed?["isSetUp"] as? Bool == false)
            let elsewhere = try tool.run("setup", "--list", "--json").objects.first { $0["tool"] as? String == "git" }
            #expect(elsewhere?["isSetUp"] as? Bool == true)
            #expect(try tool.shell("git config --global --add credential.https://h.helper ''").status == 0)
            let ofURL = try tool.run("setup", "git", "--json")
            #expect(notes(ofURL).contains("for https://h git does not ask the keychain"))
        }
    }

    // MARK: Files as they are

    @Test(
        "A last line that goes on does not swallow the setting, and --undo gives the file back",
        arguments: [
            "[user]\n\tname = A\\\n", "[user]\n\tname = A\\", "[user]\n\tname = A\\\\\n", "[user]\r\n\tname = A\\\r\n",
        ])
    func lastLineGoesOn(text: String) throws {
        try withGit { (tool) throws in
            let file = tool.home.appendingPathComponent(".gitconfig")
            try Data(text.utf8).write(to: file)
            let name = try tool.shell("git config user.name").output
            #expect(try tool.run("setup", "git").status == 0)
            #expect(try tool.shell("git config user.name").output == name)
            #expect(try tool.shell("git config --get-all credential.helper").text == "keychain\n")
            #expect(try tool.run("setup", "--undo", "git").status == 0)
            #expect(try Data(contentsOf: file) == Data(text.utf8))
        }
    }

    @Test(
        "A file that the tool itself does not read is refused and left as it is",
        arguments: [
            ("docker", ".docker/config.json", "{\"auths\": {},}"), ("docker", ".docker/config.json", "{\"a\": [1,]}"),
            ("docker", ".docker/config.json", "{\"a\": 1 // c\n}"), ("docker", ".docker/config.json", "{\"a\": 01}"),
            ("docker", ".docker/config.json", "{\"a\": \"\u{1}\"}"), ("docker", ".docker/config.json", "{\"a\": 1} x"),
            ("docker", ".docker/config.json", "{\"a\": 1, \"a\": 01}"),
            ("docker", ".docker/config.json", "{\"a\": 1, \"a\": -}"),
            ("docker", ".docker/config.json", "{\"a\": 1, \"a\": \"\u{1}\"}"),
            ("cargo", ".cargo/config.toml", "[build\njobs = 2\n"), ("cargo", ".cargo/config.toml", "jobs\n"),
            ("cargo", ".cargo/config.toml", "[build]\n[build]\n"),
            ("cargo", ".cargo/config.toml", "[a]\nb = 1\nb = 2\n"),
            ("cargo", ".cargo/config.toml", "[a]\nb = 1 c = 2\n"), ("cargo", ".cargo/config.toml", "[a]\nb = \"x\n"),
            ("uv", ".config/uv/uv.toml", "x = = 1\n"), ("uv", ".config/uv/uv.toml", "x = y\n"),
            ("uv", ".config/uv/uv.toml", "x = [1, 2\n"), ("uv", ".config/uv/uv.toml", "x = { a = 1, b }\n"),
            ("pip", ".config/pip/pip.conf", "timeout = 3\n"), ("pip", ".config/pip/pip.conf", "[global\ntimeout = 3\n"),
            ("pip", ".config/pip/pip.conf", "[global]\na = 1\n[install]\nb = 1\n[global]\nc = 1\n"),
            ("pip", ".config/pip/pip.conf", "[global]\ntimeout\n"),
            ("pip", ".config/pip/pip.conf", "[global]\na=1\nA=2\n"),
        ])
    func brokenFiles(name: String, path: String, text: String) throws {
        try withHelpers { (tool) throws in
            let file = try tool.write(text, to: path)
            let outcome = try tool.run("setup", name)
            #expect(outcome.status == 1 && outcome.output.isEmpty)
            #expect(outcome.errors.replacing("\n  ", with: " ").contains(file.lastPathComponent))
            #expect(try Data(contentsOf: file) == Data(text.utf8))
        }
    }

    @Test(
        "What tools do read is changed, whatever of its format it uses",
        arguments: [
            (
                "cargo", ".cargo/config.toml",
                """
                include = "x"  # c
                paths = [ # c
                  'a', "b\\"]",
                ]
                alias.b = "build"
                [target.'cfg(unix)'.x-y]
                f = { a = 1, "b c" = [true, -1.5e3, 0xff, inf] , d = 1979-05-27 07:32:00Z }
                [[a."b.c"]]
                x = 1
                [a."b.c".d]
                y = 1
                [[a."b.c"]]
                x = 1
                [a."b.c".d]
                y = 1

                """
            ),
            (
                "uv", ".config/uv/uv.toml",
                "x = \"\"\"\n[a\n\"quoted\"\"\"\"\ny = '''\n= = '''\r\n[[index]]\nurl = \"u\"\n"
            ),
            (
                "pip", ".config/pip/pip.conf",
                "# c\n[global]\ntrusted-host =\n    a\n    b = c\n; d\nx: 1\n[install]\nx = 2\n"
            ),
        ])
    func soundFiles(name: String, path: String, text: String) throws {
        try withHelpers { (tool) throws in
            let file = try tool.write(text, to: path)
            #expect(try tool.run("setup", name).text.hasPrefix("\(name): changed"))
            #expect(try tool.run("setup", "--undo", name).status == 0)
            #expect(try Data(contentsOf: file) == Data(text.utf8))
        }
    }

    @Test("A file keeps its group, its access list and its attributes, and directories are the person's alone")
    func properties() throws {
        try withHelpers { (tool) throws in
            let file = try tool.write("[user]\n\tname = A\n", to: ".gitconfig", mode: 0o640)
            let group = geteuid() == 0 ? gid_t(65534) : getegid()
            #expect(chown(file.path, uid_t.max, group) == 0)
            // A note, and a list by which user 65534 reads the file too: version 2; the owner, that user, the group, the mask,
            // others. Not every file system takes them.
            let program = """
                import os, struct, sys
                file = os.environ["HOME"] + "/.gitconfig"
                entries = [(1, 6, -1), (2, 4, 65534), (4, 4, -1), (16, 4, -1), (32, 0, -1)]
                access = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
                for name, value in [("user.note", b"mine"), ("system.posix_acl_access", access)]:
                    try:
                        if sys.argv[1] == "set": os.setxattr(file, name, value)
                        print(name, os.getxattr(file, name).hex())
                    except OSError as error: print(name, error.errno)
                """
            try Data(program.utf8).write(to: tool.home.appendingPathComponent("attributes.py"))
            let attributes = try tool.shell("python3 $HOME/attributes.py set").text
            #expect(attributes.split(separator: "\n").count == 2)
            for words in [["git"], ["--undo", "git"]] {
                #expect(try tool.run(words: ["setup"] + words).status == 0)
                var status = stat()
                #expect(stat(file.path, &status) == 0)
                #expect(status.st_gid == group && status.st_mode & 0o777 == 0o640)
                #expect(try tool.shell("python3 $HOME/attributes.py get").text == attributes)
            }
            #expect(try tool.run("setup", "docker", "uv").status == 0)
            for directory in [".docker", ".config", ".config/uv"] {
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: tool.home.appendingPathComponent(directory).path)
                #expect(attributes[.posixPermissions] as? Int == 0o700, "\(directory)")
            }
        }
    }

    @Test("No copy of git's configuration is in any file while git looks at it: a kill leaves none")
    func noCopy() throws {
        try withGit { (plain) throws in
            var tool = plain
            try tool.write("[http]\n\textraHeader = token-of-ada\n", to: ".gitconfig")
            let look = "grep -rl token-of-[a]da $HOME --exclude .gitconfig >>$HOME/found"
            let program = try tool.write("#!/bin/sh\n\(look)\nexec /usr/bin/git \"$@\"\n", to: "bin/git", mode: 0o755)
            tool.variables["PATH"] =
                program.deletingLastPathComponent().path + ":" + tool.variables["PATH", default: ""]
            #expect(try tool.run("setup", "git").status == 0)
            _ = try tool.shell("printf '[core]\\n\\tx = 1\\n' >>$HOME/.gitconfig")
            #expect(try tool.run("setup", "--undo", "git").status == 0)
            #expect(try String(contentsOf: tool.home.appendingPathComponent("found"), encoding: .utf8) == "")
        }
    }

    @Test("A program that is changing git's file is waited for")
    func waitsForGit() throws {
        try withGit { (tool) throws in
            try tool.write("[user]\n\tname = A\n", to: ".gitconfig")
            // git has its lock until the command has said that it waits.
            let script = """
                cd; touch .gitconfig.lock; mkfifo told
                $K setup git 2>told & exec 3<told
                read -r line <&3; echo "$line"; git config --file .gitconfig --get credential.helper
                printf '[user]\\n\\tname = B\\n' >.gitconfig.lock; mv .gitconfig.lock .gitconfig
                wait $! && cat .gitconfig; ls -a | grep lock
                """
            let lines = try tool.shell(script).text.split(separator: "\n").map(String.init)
            #expect(lines.first?.hasPrefix("waiting for another program") == true, "\(lines)")
            #expect(lines.suffix(4) == ["[user]", "\tname = B", "[credential]", "\thelper = keychain"])
            #expect(!lines.dropFirst().dropLast().contains("keychain"))
        }
    }

    @Test("The lock that a killed command of ours has left is removed by the next one", arguments: [["--undo"], []])
    func leftLock(options: [String]) throws {
        try withGit { (tool) throws in
            try tool.write("[user]\n\tname = A\n", to: ".gitconfig")
            #expect(try tool.run("setup", "git").status == 0)
            let lock = try tool.write("keychainctl setup\n", to: ".gitconfig.lock")
            let next = try tool.run(words: ["setup"] + options + ["git"])
            #expect(next.status == 0 && next.errors.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: lock.path))
        }
    }

    @Test("git is not kept from its file while the change is worked out")
    func shortLock() throws {
        try withGit { (plain) throws in
            var tool = plain
            let look = "test ! -e $HOME/.gitconfig.lock || echo locked >>$HOME/found"
            let program = try tool.write("#!/bin/sh\n\(look)\nexec /usr/bin/git \"$@\"\n", to: "bin/git", mode: 0o755)
            tool.variables["PATH"] =
                program.deletingLastPathComponent().path + ":" + tool.variables["PATH", default: ""]
            #expect(try tool.run("setup", "git").status == 0)
            _ = try tool.shell("printf '[core]\\n\\tx = 1\\n' >>$HOME/.gitconfig")
            #expect(try tool.run("setup", "--undo", "git").status == 0)
            #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent("found").path))
        }
    }

    @Test("A lock that cannot be written is not left, and the message is one for people")
    func fullDisk() throws {
        try withGit { (tool) throws in
            #expect(try tool.run("setup", "git").status == 0)
            // No file has room for a byte any more when the command gets the lock that it waits for.
            let script = """
                cd; touch .gitconfig.lock; mkfifo told
                $K setup --undo git 2>told & exec 3<told
                read -r line <&3; echo "$line"; prlimit --fsize=0 --pid $!; rm .gitconfig.lock
                cat <&3; wait $!; echo $?
                """
            let said = try tool.shell(script).text
            #expect(said.hasPrefix("waiting for another program"), "\(said)")
            #expect(said.contains("cannot write") && said.hasSuffix("\n1\n"), "\(said)")
            #expect(!said.contains("Cocoa") && !said.contains("Domain"))
            #expect(try !tool.shell("ls -a $HOME").text.contains(".lock"))
            let undone = try tool.run("setup", "--undo", "git")
            #expect(undone.status == 0 && undone.errors.isEmpty)
        }
    }

    // MARK: pip, as Python reads its file

    /// Prints what Python's configparser finds in a file, but for the one setting.
    private static let readAsPip = """
        import configparser, sys
        file = configparser.RawConfigParser()
        file.read(sys.argv[1], encoding="utf-8")
        print([(s, o, v) for s in file.sections() for o, v in file.items(s) if o != "keyring-provider"])
        print(file.get("global", "keyring-provider", fallback=None), file=sys.stderr)
        """

    private func readAsPip(_ tool: Tool) throws -> Tool.Outcome {
        let program = try tool.write(Self.readAsPip, to: "read.py")
        return try tool.shell("python3 '\(program.path)' $HOME/.config/pip/pip.conf")
    }

    @Test(
        "Every other value of pip's file is the same after setup, however its lines are indented",
        arguments: [
            "[global]\n\n  timeout = 60\n", "[global]\n# c\n  timeout = 60\n",
            "[global]\na = 1\n  [global]\n", "[global]\ntrusted-host =\n    a\n    [global]\n",
            "[global]\n  ; c\n\n\ttimeout = 60\n  b = 1\n",
            "[global]\n  a = 1\n", "[global]\n    a = 1\n  b = 2\n      c\n",
            "  [global]\n  a = 1\n", "[global]\n\n  # c\n",
            "[global]\na =\n\n  1\n\n  # c\n  2\n[install]\n  b = 1\n", "[install]\n  a = 1\n\n",
            "[global]\n  keyring-provider = auto\n  a = 1\n", "[global]\n\u{a0}a = 1\n", "[global]\r\n\r\n  a = 1\r\n",
        ])
    func valuesOfPip(text: String) throws {
        try withHelpers { (tool) throws in
            let file = try tool.write(text, to: ".config/pip/pip.conf")
            let before = try readAsPip(tool)
            #expect(try tool.run("setup", "pip").status == 0)
            let after = try readAsPip(tool)
            #expect(after.output == before.output && after.errors == "subprocess\n")
            #expect(try tool.run("setup", "pip").text.hasPrefix("pip: set up"))
            #expect(try tool.run("setup", "--undo", "pip").status == 0)
            #expect(try Data(contentsOf: file) == Data(text.utf8))
        }
    }

    @Test("A setting that pip would read as more is not written, and not taken back")
    func otherValuesOfPip() throws {
        try withHelpers { (tool) throws in
            for text in [
                "[global]\nkeyring-provider =\n\n  import\n",
                "[global]\ra = 1\n  b = 2\n",
                "[global] ; [x]\na = 1\n",
            ] {
                let file = try tool.write(text, to: ".config/pip/pip.conf")
                let outcome = try tool.run("setup", "pip")
                #expect(outcome.status == 1, "\(text)")
                #expect(try Data(contentsOf: file) == Data(text.utf8))
            }
            try tool.write("[global]\n", to: ".config/pip/pip.conf")
            #expect(try tool.run("setup", "pip").status == 0)
            let changed = "[global]\na = 1\nkeyring-provider = subprocess\n  x\n"
            let file = try tool.write(changed, to: ".config/pip/pip.conf")
            #expect(try tool.run("setup", "--undo", "pip").errors.contains("by hand"))
            #expect(try Data(contentsOf: file) == Data(changed.utf8))
        }
    }

    // MARK: What is found and told

    @Test("A relative directory in the PATH is nobody's: no helper is found there, and no git")
    func relativePath() throws {
        try withTool { (plain) throws in
            var tool = plain
            try tool.write("#!/bin/sh\necho ran >>$HOME/ran\n", to: "clone/keychainctl", mode: 0o755)
            let links =
                "for n in git git-credential-keychain docker-credential-keychain keyring; do ln -s keychainctl $n; done"
            #expect(try tool.shell("cd $HOME/clone && \(links)").status == 0)
            for path in [".:/usr/bin:/bin", "/usr/bin:/bin:", "../clone:/usr/bin:/bin"] {
                tool.variables["PATH"] = path
                for name in ["git", "docker", "pip"] {
                    let outcome = try tool.shell("cd $HOME/clone && $K setup \(name)")
                    #expect(outcome.status == 1 && outcome.errors.contains("install"), "\(name) with \(path)")
                }
            }
            #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent("ran").path))
        }
    }

    @Test("isSetUp tells how things are, also when a change is only shown")
    func isSetUp() throws {
        try withHelpers { (tool) throws in
            func isSetUp(_ words: String...) throws -> Bool? {
                try tool.run(words: ["setup", "--json"] + words).objects.first?["isSetUp"] as? Bool
            }
            #expect(try isSetUp("--dry-run", "docker") == false)
            #expect(try isSetUp("docker") == true)
            #expect(try isSetUp("--dry-run", "docker") == true)
            #expect(try isSetUp("--dry-run", "--undo", "docker") == true)
            #expect(try isSetUp("--undo", "docker") == false)
        }
    }

    @Test("After a set-up that failed there is nothing to undo")
    func failedSetUp() throws {
        try withHelpers { (plain) throws in
            var tool = plain
            // Nobody makes a directory there.
            tool.variables["DOCKER_CONFIG"] = "/proc/nosuch"
            #expect(try tool.run("setup", "docker").status != 0)
            #expect(try tool.run("setup", "--undo", "docker").errors.contains("nothing to undo"))
        }
    }

    @Test("docker used no helper if its file names none", arguments: ["null", "\"\"", "5", "\"pass\""])
    func formerHelper(value: String) throws {
        try withHelpers { (tool) throws in
            try tool.write("{\"credsStore\": \(value)}", to: ".docker/config.json")
            #expect(try tool.run("setup", "docker").text.contains("so far") == (value == "\"pass\""))
        }
    }

    @Test("docker shows its helper's errors on a terminal, so nothing in them moves its cursor")
    func escapedErrors() throws {
        try withHelpers { (plain) throws in
            var tool = plain
            try tool.write("", to: "\u{1b}[31mdata")
            tool.variables["XDG_DATA_HOME"] = tool.home.appendingPathComponent("\u{1b}[31mdata").path
            let outcome = try tool.helper(
                "docker-credential-keychain", "store",
                input: #"{"ServerURL":"h","Username":"u","Secret":"s"}"#)
            #expect(outcome.status == 1 && outcome.text.contains("[31mdata"))
            #expect(!outcome.text.contains("\u{1b}"))
        }
    }
}
