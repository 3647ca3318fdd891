import Foundation
import Testing

@testable import KeychainTool

/// `keychainctl setup` on the files of an ordinary home directory.
@Suite struct SetupCommandTests {
    private static let files = [
        ("git", ".gitconfig", "[user]\n\tname = A # who\n[credential]\n\thelper = cache\n[core]\n\tx = 1"),
        (
            "docker", ".docker/config.json",
            "{ \"auths\" : {\"r\":{}},\n\n  \"credsStore\":\"pass\",\"x\":[1, {\"credsStore\":2}]}"
        ),
        ("docker", ".docker/config.json", "{\n    \"HttpHeaders\": {\"a\": \"\\\"\"}\n}\n"),
        ("docker", ".docker/config.json", "{}"),
        ("cargo", ".cargo/config.toml", "# mine\n[build]\njobs = 2\n\n[ registry ] # r\ndefault = \"x\"\n[net]\n"),
        ("cargo", ".cargo/config.toml", "[registry]\nglobal-credential-providers = [\"cargo:token\", 'b' , ] # c\n"),
        ("cargo", ".cargo/config", "[http]\ncheck-revoke = false"),
        ("pip", ".config/pip/pip.conf", "[install]\nuser = yes\n[global]\n; c\nkeyring-provider : auto\ntimeout = 3\n"),
        ("pip", ".pip/pip.conf", "[global]"),
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
        arguments: ToolSetups.all.map { $0.name })
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

    @Test("After a change by the person --undo takes back its own line alone, or says what is to be done")
    func undoAfterChange() throws {
        try withHelpers { (tool) throws in
            let file = try tool.write("[user]\n\tname = A\n", to: ".gitconfig")
            try tool.run("setup", "git")
            var text = try String(contentsOf: file, encoding: .utf8)
            try Data(("[core]\n\tpager = less\n" + text).utf8).write(to: file)
            #expect(try tool.run("setup", "--undo", "git").status == 0)
            #expect(try String(contentsOf: file, encoding: .utf8) == "[core]\n\tpager = less\n[user]\n\tname = A\n")

            try tool.run("setup", "git")
            text = try String(contentsOf: file, encoding: .utf8).replacing("keychain", with: "'keychain'")
            try Data(text.utf8).write(to: file)
            let refused = try tool.run("setup", "--undo", "git")
            #expect(refused.status == 1 && refused.errors.contains(file.path) && refused.errors.contains("by hand"))
            #expect(try String(contentsOf: file, encoding: .utf8) == text)
        }
    }

    @Test(
        "A file that cannot be changed safely is left as it is, and the message says what to write",
        arguments: [
            ("docker", ".docker/config.json", "{\"a\": 1,"), ("docker", ".docker/config.json", "[]"),
            ("cargo", ".cargo/config.toml", "registry.default = \"x\"\n"),
            ("cargo", ".cargo/config.toml", "registry = { default = \"x\" }\n"),
            ("cargo", ".cargo/config.toml", "[registry]\nglobal-credential-providers = [\n  \"cargo:token\",\n]\n"),
            ("cargo", ".cargo/config.toml", "x = \"\"\"\n[registry]\n\"\"\"\n"),
            ("pip", ".config/pip/pip.conf", "[install]\nkeyring-provider = auto\n"),
            ("uv", ".config/uv/uv.toml", "[pip]\nkeyring-provider = \"disabled\"\n"),
            ("git", ".gitconfig", "[credential\n"), ("cargo", ".cargo/config.toml", "\u{0}"),
        ])
    func refuses(tool name: String, path: String, text: String) throws {
        try withHelpers { (tool) throws in
            let file = try tool.write(text, to: path)
            let outcome = try tool.run("setup", name)
            #expect(outcome.status == 1 && outcome.output.isEmpty)
            #expect(
                outcome.errors.contains("keychainctl: \(name): ")
                    && outcome.errors.replacing("\n  ", with: " ").contains(file.lastPathComponent))
            #expect(try String(contentsOf: file, encoding: .utf8) == text)
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
            #expect(try tool.run("setup", "--list", "--json").objects.count == ToolSetups.all.count)
        }
    }
}

extension Tool {
    /// Writes a file of the home directory.
    @discardableResult
    fileprivate func write(_ text: String, to path: String, mode: Int = 0o600) throws -> URL {
        let file = home.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        return file
    }
}
