import Foundation
import KeychainSetup
import KeychainSystem
import Testing

/// `keychainctl setup` on the files of an ordinary home directory.
@Suite struct SetupCommandTests {
    private static let files = [
        ("git", ".gitconfig", "[user]\n\tname = A # who\n[credential]\n\thelper = cache\n[core]\n\tx = 1"),
        (
            "docker", ".docker/config.json",
            "{ \"auths\" : {\"r\":{}},\n\n  \"credsStore\":\"pass\",\"x\":[1, {\"credsStore\":2}]}"
        ),
        ("docker", ".docker/config.json", "{\n    \"HttpHeaders\": {\"a\": \"\\\"\"}\n}\n"),
        ("docker", ".docker/config.json", "{}"), ("docker", ".docker/config.json", "{ }\n"),
        ("docker", ".docker/config.json", ""), ("docker", ".docker/config.json", "\n "), ("git", ".gitconfig", ""),
        ("git", ".gitconfig", "\n\n"), ("cargo", ".cargo/config.toml", ""), ("cargo", ".cargo/config.toml", "\n"),
        ("cargo", ".cargo/config.toml", "[registry]"), ("cargo", ".cargo/config.toml", "[a]\r\nb = 1"),
        ("pip", ".config/pip/pip.conf", ""), ("pip", ".config/pip/pip.conf", "[install]\n\n  "),
        ("uv", ".config/uv/uv.toml", ""), ("uv", ".config/uv/uv.toml", "native-tls = true"),
        ("cargo", ".cargo/config.toml", "# mine\n[build]\njobs = 2\n\n[ registry ] # r\ndefault = \"x\"\n[net]\n"),
        ("cargo", ".cargo/config.toml", "[registry]\nglobal-credential-providers = [\"cargo:token\", 'b' , ] # c\n"),
        ("cargo", ".cargo/config", "[http]\ncheck-revoke = false"),
        ("pip", ".config/pip/pip.conf", "[install]\nuser = yes\n[global]\n; c\nkeyring-provider : auto\ntimeout = 3\n"),
        ("pip", ".config/pip/pip.conf", "[global] ; mine"),
        ("pip", ".config/pip/pip.conf", "[global]\r\ntimeout = 3\r\n"),
        ("uv", ".config/uv/uv.toml", "# c\nnative-tls = true\n[pip]\nx = 1\n"),
        ("uv", ".config/uv/uv.toml", "keyring-provider = \"disabled\" # c\n"),
    ]

    @Test("A file is changed once, keeps everything else, and is as it was after --undo", arguments: files)
    func roundTrip(tool name: String, path: String, text: String) throws {
        try withHelpers { (tool) throws in
            let file = try tool.write(text, to: path, mode: 0o640)
            let outcome = try tool.run("setup", name)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let changed = try String(contentsOf: file, encoding: .utf8)
            #expect(changed != text && changed.contains(["pip", "uv"].contains(name) ? "subprocess" : "keychain"))
            #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o640)
            #expect(try tool.run("setup", name).text.hasPrefix("\(name): set up\n"))
            #expect(try String(contentsOf: file, encoding: .utf8) == changed)
            #expect(try tool.run("setup", "--undo", name).status == 0)
            #expect(try String(contentsOf: file, encoding: .utf8) == text)
            let again = try tool.run("setup", "--undo", name)
            #expect(again.status == 1 && again.errors.contains("nothing to undo"))
        }
    }

    @Test(
        "What was not there is made, with its directories, and --undo removes it",
        arguments: SetupTool.allCases.map(\.rawValue))
    func fromNothing(name: String) throws {
        try withHelpers { (tool) throws in
            func names() throws -> [String] {
                try FileManager.default.subpathsOfDirectory(atPath: tool.home.path)
                    .filter { !$0.hasPrefix("state") && !$0.hasPrefix("tmp") }.sorted()
            }
            let before = try names()
            #expect(try tool.run("setup", "--dry-run", name).status == 0)
            #expect(try names() == before)
            #expect(try tool.run("setup", name).status == 0)
            guard name != "swiftpm" else { return }
            #expect(try names() != before)
            #expect(try tool.run("setup", "--undo", name).status == 0)
            #expect(try names() == before)
        }
    }

    /// A change that a person or the tool itself makes to a file after 'setup'.
    struct LaterChange: Sendable, CustomTestStringConvertible {
        var tool: String
        var path: String
        /// nil: there was no file.
        var before: String?
        /// In a shell. F is the file.
        var change: String
        /// nil: the file stays as it is, and the message says that it is to be changed by hand.
        var after: String?

        init(_ tool: String, _ path: String, _ before: String?, _ change: String, _ after: String?) {
            (self.tool, self.path, self.before, self.change, self.after) = (tool, path, before, change, after)
        }

        var testDescription: String { "\(tool): \(change)" }
    }

    private static let laterChanges = [
        LaterChange(
            "git", ".gitconfig", "[user]\n\tname = A\n", "printf '[core]\\n\\tpager = less\\n' | cat - $F >g; mv g $F",
            "[core]\n\tpager = less\n[user]\n\tname = A\n"),
        LaterChange(
            "git", ".gitconfig", nil, "git config --global credential.useHttpPath true",
            "[credential]\n\tuseHttpPath = true\n"),
        LaterChange(
            "git", ".gitconfig", "[user]\n\tname = A\n", "git config --global credential.username ada",
            "[user]\n\tname = A\n[credential]\n\tusername = ada\n"),
        LaterChange(
            "git", ".gitconfig", nil, "git config --global --add credential.helper store",
            "[credential]\n\thelper = store\n"),
        LaterChange("git", ".gitconfig", nil, "sed -i 's/keychain/\"keychain\"/' $F", ""),
        LaterChange(
            "pip", ".config/pip/pip.conf", nil, "echo 'index-url = http://x/' >>$F",
            "[global]\nindex-url = http://x/\n"),
        LaterChange(
            "pip", ".config/pip/pip.conf", "[install]\nuser = yes\n", "sed -i 's/ = subprocess/=subprocess/' $F",
            "[install]\nuser = yes\n"),
        LaterChange(
            "pip", ".config/pip/pip.conf", nil, "sed -i 's/subprocess/import,subprocess/' $F", nil),
        LaterChange(
            "cargo", ".cargo/config.toml", "[build]\njobs = 2\n", "echo 'default = \"mine\"' >>$F",
            "[build]\njobs = 2\n\n[registry]\ndefault = \"mine\"\n"),
        LaterChange(
            "cargo", ".cargo/config.toml", "[build]\njobs = 2\n", "printf '[net]\\noffline = true\\n' >>$F",
            "[build]\njobs = 2\n[net]\noffline = true\n"),
        LaterChange(
            "cargo", ".cargo/config.toml", "[registry]\nglobal-credential-providers = []\n",
            "sed -i 's/\"]$/\", \"x\"]/' $F",
            nil),
        LaterChange(
            "uv", ".config/uv/uv.toml", nil, "sed -i 's/^/# /' $F; echo 'link-mode = \"copy\"' >>$F",
            "# keyring-provider = \"subprocess\"\nlink-mode = \"copy\"\n"),
        LaterChange("docker", ".docker/config.json", "{}", #"printf '{"credsStore":"keychain"}' >$F"#, "{}"),
        LaterChange(
            "git", ".gitconfig", nil, "git config --global credential.helper 'keychain --ask-when-locked'", nil),
        LaterChange(
            "cargo", ".cargo/config.toml", nil,
            #"sed -i 's/\["cargo:token", /[\n  "cargo:token",\n  /' $F"#, nil),
        LaterChange(
            "cargo", ".cargo/config.toml", nil, "sed -i 's/^.registry.$/[registry] # mine/' $F", "[registry] # mine\n"),
        LaterChange(
            "pip", ".config/pip/pip.conf", nil, "sed -i 's/ = subprocess/ =\\n    subprocess/' $F", nil),
        // docker writes the whole file anew.
        LaterChange(
            "docker", ".docker/config.json", nil, #"printf '{"auths": {"r": {}},\n "credsStore": "keychain"\n}' >$F"#,
            "{\"auths\": {\"r\": {}}\n}"),
        LaterChange(
            "docker", ".docker/config.json", nil, #"printf '{"credsStore":"keychain","auths":{}}' >$F"#,
            "{\"auths\":{}}"),
        LaterChange(
            "docker", ".docker/config.json", "{\"credsStore\": \"pass\"}",
            #"printf '{"a":1,"credsStore":"keychain"}' >$F"#,
            "{\"a\":1,\"credsStore\":\"pass\"}"),
        LaterChange(
            "docker", ".docker/config.json", "{\"credsStore\": \"secretservice\"}",
            #"printf '{"credsStore":"pass","credHelpers":{"h":"keychain"}}' >$F"#,
            "{\"credsStore\":\"pass\",\"credHelpers\":{\"h\":\"keychain\"}}"),
    ]

    @Test("After a change by the person or the tool --undo takes back its own setting alone", arguments: laterChanges)
    func undoAfterChange(_ change: LaterChange) throws {
        try withHelpers { (tool) throws in
            let file = tool.home.appendingPathComponent(change.path)
            if let before = change.before { try tool.write(before, to: change.path) }
            #expect(try tool.run("setup", change.tool).status == 0)
            let script = "cd && F='\(file.path)'\n\(change.change)"
            #expect(try tool.shell(script).status == 0)
            let changed = try String(contentsOf: file, encoding: .utf8)
            let undone = try tool.run("setup", "--undo", change.tool)
            guard let after = change.after else {
                #expect(undone.status == 1 && undone.errors.contains("by hand") && undone.errors.contains(file.path))
                #expect(try String(contentsOf: file, encoding: .utf8) == changed)
                return
            }
            #expect(undone.status == 0, "\(undone.errors)")
            #expect(((try? String(contentsOf: file, encoding: .utf8)) ?? "") == after)
        }
    }

    @Test(
        "A command that was ended before its change leaves nothing behind, and --undo says that nothing is to be undone"
    )
    func interrupted() throws {
        try withHelpers { (tool) throws in
            let file = try tool.write("{\"auths\":{\"r\":{\"auth\":\"dTpw\"}}}", to: ".docker/config.json")
            let former = try Data(contentsOf: file)
            try tool.run("setup", "docker")
            // The state in between: a record, and an unfinished copy.
            try former.write(to: file)
            let copy = try tool.write("an unfinished copy", to: ".docker/.config.json.keychain-setup")
            let undone = try tool.run("setup", "--undo", "docker")
            #expect(undone.status == 0 && undone.text.contains("nothing any more of what was changed"))
            #expect(try Data(contentsOf: file) == former)
            #expect(!FileManager.default.fileExists(atPath: copy.path))
            #expect(try tool.run("setup", "--undo", "docker").errors.contains("nothing to undo"))
        }
    }

    @Test(
        "A file that is no UTF-8 text any more is not changed by --undo",
        arguments: [
            ("docker", ".docker/config.json"), ("cargo", ".cargo/config.toml"), ("pip", ".config/pip/pip.conf"),
            ("uv", ".config/uv/uv.toml"),
        ])
    func otherEncoding(name: String, path: String) throws {
        try withHelpers { (tool) throws in
            try tool.run("setup", name)
            let file = tool.home.appendingPathComponent(path)
            let changed = Data([0x23, 0xe9, 0xe9, 0xe9, 0x0a]) + (try Data(contentsOf: file))
            try changed.write(to: file)
            let undone = try tool.run("setup", "--undo", name)
            #expect(undone.status == 1 && undone.errors.contains("is not UTF-8 text"))
            #expect(try Data(contentsOf: file) == changed)
        }
    }

    @Test("A damaged record keeps no other tool from being undone, and the link stays as long as a file needs it")
    func damagedRecord() throws {
        try withHelpers { (tool) throws in
            try FileManager.default.removeItem(at: tool.helperDirectory.appendingPathComponent("keyring"))
            #expect(try tool.run("setup", "pip", "uv").status == 0)
            #expect(try tool.shell("echo x >$(find $HOME -name uv.json)").status == 0)
            #expect(try tool.shell("sed -i 's/subprocess/subprocess ; mine/' $HOME/.config/pip/pip.conf").status == 0)
            let link = tool.home.appendingPathComponent(".local/bin/keyring").path
            #expect(try tool.run("setup", "--undo", "pip").errors.contains("by hand"))
            #expect(FileManager.default.isExecutableFile(atPath: link))
            #expect(try tool.shell("sed -i 's/ ; mine//' $HOME/.config/pip/pip.conf").status == 0)
            #expect(try tool.run("setup", "--undo", "pip").status == 0)
            #expect(try tool.run("setup", "--undo", "uv").errors.contains("is damaged"))
        }
    }

    @Test("A record of another version is refused, and the file stays as it is")
    func otherVersion() throws {
        try withHelpers { (tool) throws in
            #expect(try tool.run("setup", "docker").status == 0)
            let file = tool.home.appendingPathComponent(".docker/config.json")
            let changed = try Data(contentsOf: file)
            #expect(
                try tool.shell("sed -i 's/\"version\" : [0-9]*/\"version\" : 1/' $(find $HOME -name docker.json)")
                    .status == 0)
            for words in [["--undo", "docker"], ["--undo", "--dry-run", "docker"]] {
                let outcome = try tool.run(words: ["setup"] + words)
                #expect(outcome.status == 1 && outcome.errors.contains("of another version"))
            }
            #expect(try Data(contentsOf: file) == changed)
        }
    }

    @Test("A tool that is refused, or has nothing to be changed or taken back, leaves no file of ours")
    func leavesNothing() throws {
        try withHelpers { (tool) throws in
            try tool.write("[credential\n", to: ".gitconfig")
            try tool.write("{\"credsStore\": \"keychain\"}", to: ".docker/config.json")
            let before = try FileManager.default.subpathsOfDirectory(atPath: tool.home.path).sorted()
            #expect(try tool.run("setup", "git").status == 1)
            #expect(try tool.run("setup", "docker", "swiftpm").status == 0)
            #expect(try tool.run("setup", "--undo", "docker").errors.contains("nothing to undo"))
            #expect(try FileManager.default.subpathsOfDirectory(atPath: tool.home.path).sorted() == before)
        }
    }

    @Test("--undo shows the link only for the last tool that uses it, and takes it back with that one")
    func linkOfLast() throws {
        try withHelpers { (tool) throws in
            try FileManager.default.removeItem(at: tool.helperDirectory.appendingPathComponent("keyring"))
            #expect(try tool.run("setup", "uv", "pip").status == 0)
            let listed = try tool.run("setup", "--undo", "--dry-run", "uv", "--json").objects.first
            #expect((listed?["changes"] as? [Any])?.count == 1)
            #expect(try tool.run("setup", "--undo", "uv").text.contains("stays, since pip uses it"))
            #expect(try tool.run("setup", "--undo", "uv").errors.contains("nothing to undo"))
            let last = try tool.run("setup", "--undo", "pip", "--json").objects.first
            #expect((last?["changes"] as? [Any])?.count == 2)
            #expect(!FilePath.exists(tool.home.appendingPathComponent(".local").path))
        }
    }

    @Test("A damaged record of the link stops a set-up before its first change, and no undo of a file")
    func damagedRecordOfLink() throws {
        try withHelpers { (tool) throws in
            try FileManager.default.removeItem(at: tool.helperDirectory.appendingPathComponent("keyring"))
            let record = try tool.write("{", to: "state/keychain/setup/keyring.json")
            let refused = try tool.run("setup", "pip")
            #expect(refused.status == 1 && refused.errors.contains("keyring.json is damaged"))
            #expect(!FilePath.exists(tool.home.appendingPathComponent(".config").path))
            try FileManager.default.removeItem(at: record)
            #expect(try tool.run("setup", "pip").status == 0)
            try tool.write("{", to: "state/keychain/setup/keyring.json")
            let undone = try tool.run("setup", "--undo", "pip")
            #expect(undone.status == 0 && (undone.text + undone.errors).contains("keyring.json is damaged"))
            #expect(!FilePath.exists(tool.home.appendingPathComponent(".config").path))
        }
    }

    @Test("If a part of the work fails, the other part is told, and is taken back by --undo")
    func partOfOneTool() throws {
        try withHelpers { (tool) throws in
            try FileManager.default.removeItem(at: tool.helperDirectory.appendingPathComponent("keyring"))
            let obstacle = try tool.write("", to: ".local/bin")
            let outcome = try tool.run("setup", "pip")
            #expect(outcome.status == 1 && outcome.errors.contains(".local/bin"))
            #expect(
                outcome.text.contains("pip: changed in part") && outcome.text.contains("keyring-provider = subprocess"))
            try FileManager.default.removeItem(at: obstacle)
            #expect(try tool.run("setup", "--undo", "pip").status == 0)
            #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent(".config").path))
        }
    }

    @Test("A file of an earlier set-up that cannot be read any more keeps no other file from being set up")
    func earlierFile() throws {
        try withHelpers { (plain) throws in
            var tool = plain
            let former = tool.home.appendingPathComponent("one/config.json")
            tool.variables["DOCKER_CONFIG"] = former.deletingLastPathComponent().path
            #expect(try tool.run("setup", "docker").status == 0)
            try FileManager.default.removeItem(at: former)
            try FileManager.default.createDirectory(at: former, withIntermediateDirectories: true)
            tool.variables["DOCKER_CONFIG"] = tool.home.appendingPathComponent("two").path
            #expect(try tool.run("setup", "docker").status == 0)
            let undone = try tool.run("setup", "--undo", "docker")
            #expect(undone.status == 1 && undone.text.contains("taken back in part"))
            #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent("two").path))
        }
    }

    @Test("Commands that run at once change a file once")
    func atOnce() throws {
        try withHelpers { (tool) throws in
            let file = try tool.write("[user]\n\tname = A\n", to: ".gitconfig")
            #expect(try tool.shell("for n in 1 2 3 4 5 6; do $K setup git & done; wait").status == 0)
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(text == "[user]\n\tname = A\n[credential]\n\thelper = keychain\n")
            #expect(try tool.shell("for n in 1 2 3; do $K setup --undo git & $K setup git & done; wait").status == 0)
            try tool.run("setup", "git")
            #expect(try tool.run("setup", "--undo", "git").status == 0)
            #expect(try String(contentsOf: file, encoding: .utf8) == "[user]\n\tname = A\n")
        }
    }

    @Test("What was done for one tool is told and stays, if the next one cannot be set up")
    func partly() throws {
        try withHelpers { (tool) throws in
            try tool.write("[]", to: ".docker/config.json")
            let outcome = try tool.run("setup", "git", "docker", "cargo")
            #expect(outcome.status == 1 && outcome.errors.contains("docker: "))
            #expect(outcome.text.contains("git: changed") && outcome.text.contains("cargo: changed"))
            let undone = try tool.run("setup", "--undo", "git", "docker", "cargo")
            #expect(undone.status == 1 && undone.errors.contains("docker: there is nothing to undo"))
            #expect(undone.text.contains("git: taken back") && undone.text.contains("cargo: taken back"))
        }
    }

    @Test(
        "Of several tools that are undone in any order nothing is left",
        arguments: [
            ["podman", "pip", "cargo", "uv"], ["uv", "cargo", "pip", "podman"], ["pip", "uv", "podman", "cargo"],
        ])
    func manyDirectories(order: [String]) throws {
        try withHelpers { (tool) throws in
            try FileManager.default.removeItem(at: tool.helperDirectory.appendingPathComponent("keyring"))
            func names() throws -> [String] {
                try FileManager.default.subpathsOfDirectory(atPath: tool.home.path)
                    .filter { !$0.hasPrefix("state") && !$0.hasPrefix("tmp") }.sorted()
            }
            let before = try names()
            #expect(try tool.run("setup", "podman", "cargo", "pip", "uv").status == 0)
            #expect(try tool.run(words: ["setup", "--undo"] + order).status == 0)
            #expect(try names() == before)
        }
    }

    @Test("A file that a variable names is found again from another directory, and podman's is where podman looks")
    func variables() throws {
        try withHelpers { (plain) throws in
            var tool = plain
            tool.variables["GIT_CONFIG_GLOBAL"] = "own.config"
            tool.variables["XDG_CONFIG_HOME"] = tool.home.appendingPathComponent("elsewhere").path
            #expect(try tool.shell("cd && $K setup git podman").status == 0)
            let file = tool.home.appendingPathComponent("own.config")
            #expect(try String(contentsOf: file, encoding: .utf8).contains("helper = keychain"))
            let directory = tool.home.appendingPathComponent(".config/containers/registries.conf.d")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 1)
            #expect(try tool.shell("cd / && $K setup --undo git podman").status == 0)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }

    @Test("A helper before an empty value does not count for git, so that ours is added behind it")
    func clearedList() throws {
        try withHelpers { (tool) throws in
            let text = "[credential]\n\thelper = keychain\n\thelper =\n\thelper = !f() { echo password=p; }; f\n"
            let file = try tool.write(text, to: ".gitconfig")
            let outcome = try tool.run("setup", "git")
            #expect(outcome.status == 0 && !outcome.text.contains("password=p"))
            #expect(try String(contentsOf: file, encoding: .utf8) == text + "[credential]\n\thelper = keychain\n")
        }
    }

    @Test(
        "A file that cannot be changed safely is left as it is, and the message says what to write",
        arguments: [
            ("docker", ".docker/config.json", "{\"a\": 1,"), ("docker", ".docker/config.json", "[]"),
            ("docker", ".docker/config.json", "{\"CredsStore\": \"pass\"}"),
            ("cargo", ".cargo/config.toml", "[ \"registry\" ]\ndefault = \"x\"\n"),
            ("cargo", ".cargo/config.toml", "\u{feff}[registry]\n"),
            ("cargo", ".cargo/config.toml", "[registry]\nglobal-credential-providers-old = [\"x\"]\n"),
            ("pip", ".config/pip/pip.conf", "[global]\nKeyring-Provider = auto\n"),
            ("pip", ".config/pip/pip.conf", "[global]\nkeyring-provider =\n    import\n"),
            ("cargo", ".cargo/config.toml", "registry.default = \"x\"\n"),
            ("cargo", ".cargo/config.toml", "registry = { default = \"x\" }\n"),
            ("cargo", ".cargo/config.toml", "[registry]\nglobal-credential-providers = [\n  \"cargo:token\",\n]\n"),
            ("cargo", ".cargo/config.toml", "x = \"\"\"\n[registry]\n\"\"\"\n"),
            ("pip", ".config/pip/pip.conf", "[install]\nkeyring-provider = auto\n"),
            ("uv", ".config/uv/uv.toml", "x = \"\"\"\nkeyring-provider = 1\n\"\"\"\n"),
            ("cargo", ".cargo/config.toml", "[registry] # c\r"),
            ("uv", ".config/uv/uv.toml", "[pip]\nkeyring-provider = \"disabled\"\n"),
            ("pip", ".config/pip/pip.conf", "[global] x\na=1\n"), ("git", ".gitconfig", "[credential\n"),
            ("cargo", ".cargo/config.toml", "\u{0}"),
        ])
    func refuses(tool name: String, path: String, text: String) throws {
        try withHelpers { (tool) throws in
            let file = try tool.write(text, to: path)
            let outcome = try tool.run("setup", name)
            #expect(outcome.status == 1 && outcome.output.isEmpty)
            #expect(
                outcome.errors.contains("keychainctl: \(name): ")
                    && outcome.errors.replacing("\n  ", with: " ").contains(file.lastPathComponent))
            #expect(try Data(contentsOf: file) == Data(text.utf8))
        }
    }

    @Test("A link is followed, and a pipe or a directory in the place of a file is refused at once")
    func hostilePlaces() throws {
        try withHelpers { (tool) throws in
            let real = try tool.write("[user]\n\tname = A\n", to: "dotfiles/gitconfig")
            let link = tool.home.appendingPathComponent(".gitconfig")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
            try tool.run("setup", "git")
            #expect(try String(contentsOf: real, encoding: .utf8).contains("helper = keychain"))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == real.path)
            #expect(
                try tool.shell("mkdir -p $HOME/.docker $HOME/.cargo/config.toml && mkfifo $HOME/.docker/config.json")
                    .status == 0)
            for name in ["docker", "cargo"] { #expect(try tool.run("setup", name).status != 0) }
        }
    }

    @Test("Passwords in plain text, and another helper, are told of and left alone")
    func tellsOfPlainText() throws {
        try withHelpers { (tool) throws in
            try tool.write("https://u:p@h\n", to: ".git-credentials")
            try tool.write("[credential]\n\thelper = store\n", to: ".gitconfig")
            let notes = try tool.run("setup", "git", "--json").objects.first?["notes"] as? [String] ?? []
            #expect(notes.contains { $0.contains("'store'") } && notes.contains { $0.contains(".git-credentials") })
            try tool.write(#"{"auths":{"r.example":{"auth":"dTpw"}}}"#, to: ".docker/config.json")
            #expect(try tool.run("setup", "docker").text.contains("r.example"))
            try tool.write("", to: ".cargo/credentials.toml")
            #expect(try tool.run("setup", "cargo").text.contains("credentials.toml"))
        }
    }

    @Test("Without the helpers nothing is changed, and another program called keyring is not taken for ours")
    func needsHelpers() throws {
        try withTool { (plain) throws in
            var tool = plain
            tool.variables["PATH"] = "/usr/bin:/bin"
            // The command finds helpers beside itself: here there are none of these names.
            let outcome = try tool.run("setup", "git")
            #expect(outcome.status == 1 && outcome.errors.contains("install-helpers"))
            #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent(".gitconfig").path))
        }
        try withHelpers { (tool) throws in
            try FileManager.default.removeItem(at: tool.helperDirectory.appendingPathComponent("keyring"))
            let other = try tool.write("#!/bin/sh\n", to: ".local/bin/keyring", mode: 0o755)
            let outcome = try tool.run("setup", "pip")
            #expect(outcome.status == 1 && outcome.errors.contains("another program"))
            #expect(try String(contentsOf: other, encoding: .utf8) == "#!/bin/sh\n")
        }
    }

    @Test("pip and uv share the link keyring, which stays until the last of them is undone")
    func sharedLink() throws {
        try withHelpers { (tool) throws in
            try FileManager.default.removeItem(at: tool.helperDirectory.appendingPathComponent("keyring"))
            let link = tool.home.appendingPathComponent(".local/bin/keyring").path
            #expect(try tool.run("setup", "pip", "uv").status == 0)
            #expect(FileManager.default.isExecutableFile(atPath: link))
            #expect(try tool.run("setup", "--undo", "pip").status == 0)
            #expect(FileManager.default.isExecutableFile(atPath: link))
            #expect(try tool.run("setup", "--undo", "uv").status == 0)
            #expect(!FileManager.default.fileExists(atPath: link))
        }
    }

    @Test("A tool that is not known, none at all, and flags that do not go together are mistakes of the command line")
    func mistakes() throws {
        try withHelpers { (tool) throws in
            for words in [[], ["svn"], ["--list", "git"], ["--list", "--undo"], ["--undo"]] {
                #expect(try tool.run(words: ["setup"] + words).status == 64)
            }
            #expect(try tool.run("setup", "--list", "--json").objects.count == SetupTool.allCases.count)
        }
    }
}

extension Tool {
    /// Writes a file of the home directory.
    @discardableResult
    func write(_ text: String, to path: String, mode: Int = 0o600) throws -> URL {
        let file = home.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        return file
    }
}
