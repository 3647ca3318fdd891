import Foundation
import Testing

/// Secrets in the clipboard, with programs in the place of a desktop's.
@Suite struct ClipboardTests {
    /// Takes its input as the clipboard's content and has it until another one calls it, or something else is copied, which
    /// is what its end means.
    private static let wlCopy = """
        #!/bin/sh
        case "$1" in
        --help) echo "-s, --sensitive"; exit ;;
        --clear)
            while ! test -s "$HOME/owner"; do sleep 0.05; done
            rm "$HOME/clipboard"; kill "$(cat "$HOME/owner")"; exit ;;
        esac
        echo "$* $TMPDIR" >"$HOME/arguments"
        cat >"$HOME/clipboard"
        echo $$ >"$HOME/owner"
        exec sleep 100
        """

    private func withDesktop(
        _ name: String = "wl-copy", _ program: String = wlCopy, display: String = "WAYLAND_DISPLAY",
        _ body: (Tool) throws -> Void
    ) throws {
        try withTool { (tool) throws in
            var tool = tool
            let path = try tool.file("bin/" + name, Data(program.utf8))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
            // The rest of the path has what the program needs, and no program of a real desktop.
            for name in ["cat", "sleep", "rm", "kill", "echo"] {
                let real = ["/usr/bin/", "/bin/"].map { $0 + name }.first { FileManager.default.fileExists(atPath: $0) }
                guard let real else { continue }
                try FileManager.default.createSymbolicLink(atPath: directory + "/" + name, withDestinationPath: real)
            }
            tool.variables["PATH"] = directory
            tool.variables[display] = "wayland-test"
            tool.variables["XDG_RUNTIME_DIR"] = tool.temporaryDirectory.path
            try tool.run("add", "mail.example", input: Data("hunter2".utf8))
            try body(tool)
        }
    }

    private func content(_ name: String, _ tool: Tool) -> String? {
        try? String(contentsOfFile: tool.home.appendingPathComponent(name).path, encoding: .utf8)
    }

    /// Whether a process that `get` left behind still has this home.
    private func hasHolder(_ tool: Tool) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").contains { name in
            guard Int(name) != nil, let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline"),
                let variables = FileManager.default.contents(atPath: "/proc/\(name)/environ")
            else { return false }
            return line.range(of: Data("clipboard-holder".utf8)) != nil
                && variables.range(of: Data("HOME=\(tool.home.path)\0".utf8)) != nil
        }
    }

    /// The program's name for itself is there a moment after the file for it.
    private func awaitOwner(_ tool: Tool) throws {
        try awaitTrue { content("owner", tool)?.hasSuffix("\n") == true }
    }

    private func awaitTrue(_ condition: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !condition() {
            guard ContinuousClock.now < deadline else {
                Issue.record("it does not come")
                return
            }
            usleep(20_000)
        }
    }

    @Test(
        "A secret is in the clipboard, not on the screen, and is taken away in time",
        arguments: ["--clip 1s", "--clip=1s"])
    func copies(option: String) throws {
        try withDesktop { (tool) throws in
            let outcome = try tool.shell("$K get mail.example \(option)")
            #expect(outcome.status == 0)
            #expect(outcome.output.isEmpty && outcome.errors.isEmpty)
            try awaitOwner(tool)
            // Either it is still there, or its time was over.
            #expect(content("clipboard", tool).map { $0 == "hunter2" } ?? true)
            #expect(
                content("arguments", tool)
                    == "--foreground --type text/plain --sensitive \(tool.temporaryDirectory.path)\n")
            try awaitTrue { content("clipboard", tool) == nil }
            try awaitTrue { try !hasHolder(tool) }
        }
    }

    @Test(
        "Without a time it is there for 45 seconds, wherever the option stands",
        arguments: ["--clip mail.example", "mail.example --clip"])
    func usualTime(words: String) throws {
        try withDesktop { (tool) throws in
            let session = try TerminalSession(tool, words: ["get"] + words.split(separator: " ").map(String.init))
            #expect(try session.end() == 0)
            #expect(session.transcript == "note: copied for 45 seconds\r\n")
            try awaitOwner(tool)
            #expect(content("clipboard", tool) == "hunter2")
            // As if something else had been copied.
            let owner = try #require(content("owner", tool).flatMap { Int32($0.dropLast()) })
            #expect(owner > 1 && kill(owner, SIGTERM) == 0)
            try awaitTrue { try !hasHolder(tool) }
            #expect(content("clipboard", tool) == "hunter2", "what is not ours any more is not cleared")
        }
    }

    @Test("What ends the process in whose care it is takes it away at once", arguments: ["TERM", "HUP", "INT"])
    func ended(signal: String) throws {
        try withDesktop { (tool) throws in
            #expect(try tool.shell("$K get mail.example --clip 1h").status == 0)
            try awaitOwner(tool)
            // The owner's parent.
            let script =
                "owner=$(cat $HOME/owner) && test -n \"$owner\" && "
                + "holder=$(/usr/bin/awk '{ print $4 }' /proc/$owner/stat) && test \"$holder\" -gt 1 && "
                + "kill -\(signal) $holder"
            #expect(try tool.shell(script).status == 0)
            try awaitTrue { content("clipboard", tool) == nil }
            try awaitTrue { try !hasHolder(tool) }
        }
    }

    @Test("On X11 the program is told to stay, and ended in time", arguments: ["xclip", "xsel"])
    func x11(name: String) throws {
        let program = "#!/bin/sh\necho \"$*\" >\"$HOME/arguments\"\ncat >\"$HOME/clipboard\"\nexec sleep 100\n"
        try withDesktop(name, program, display: "DISPLAY") { (tool) throws in
            #expect(try tool.shell("$K get mail.example --clip 1s").status == 0)
            try awaitTrue { try !hasHolder(tool) }
            #expect(content("clipboard", tool) == "hunter2")
            #expect(content("arguments", tool)?.contains("clipboard") == true)
        }
    }

    @Test("A desktop that cannot be reached is an error, and so is none")
    func unreachable() throws {
        try withDesktop("wl-copy", "#!/bin/sh\nexit 1\n") { (tool) throws in
            var refused = try tool.shell("$K get mail.example --clip")
            // On a busy machine the program may fail later than the command waits for that, which says nothing of it.
            for _ in 1..<5 where refused.status == 0 { refused = try tool.shell("$K get mail.example --clip") }
            #expect(refused.status == 1)
            #expect(refused.errors.contains("wl-copy did not take the secret"))
            var other = tool
            other.variables["WAYLAND_DISPLAY"] = ""
            #expect(
                try other.run("get", "mail.example", "--clip").errors.contains("neither WAYLAND_DISPLAY nor DISPLAY"))
            other.variables["DISPLAY"] = ":0"
            #expect(try other.run("get", "mail.example", "--clip").errors.contains("this desktop needs xclip or xsel"))
            // A program in a relative directory may be anybody's.
            other = tool
            other.variables["PATH"] = "bin:."
            #expect(try other.run("get", "mail.example", "--clip").errors.contains("needs wl-copy"))
            for outcome in [refused] { #expect(!outcome.errors.contains("hunter2")) }
        }
    }

    @Test("A terminal that is asked gets the secret in base64, and nothing is left behind")
    func osc52() throws {
        try withTool { (tool) throws in
            try tool.run("add", "mail.example", input: Data("hunter2".utf8))
            let spawn = "import os, pty; pty.spawn([os.environ['K'], 'get', 'mail.example', '--osc52'])"
            let outcome = try tool.shell("python3 -c \"\(spawn)\"")
            #expect(outcome.text.contains("\u{1b}]52;c;aHVudGVyMg==\u{7}"))
            #expect(!outcome.text.contains("hunter2"))
            #expect(try tool.shell("setsid $K get mail.example --osc52").errors.contains("no terminal"))
            #expect(try tool.run("get", "mail.example", "--osc52", "--clip").status == 64)
        }
    }

    @Test("A time is from a second to an hour", arguments: ["0s", "61m", "2h"])
    func times(time: String) throws {
        try withTool { (tool) throws in #expect(try tool.run("get", "x", "--clip", time).status == 64) }
    }
}
