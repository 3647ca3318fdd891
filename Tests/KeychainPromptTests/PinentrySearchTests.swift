import Foundation
import Glibc
import KeychainModel
import KeychainPrompt
import KeychainTestSupport
import Testing

@Suite struct PinentrySearchTests {
    /// A directory of programs that answer with their own names.
    private func withPrograms(
        _ names: String..., body: (URL, inout PromptConfiguration) throws -> Void
    ) throws {
        try withTemporaryDirectory { (directory) throws in
            for name in names { try install(name, in: directory) }
            var configuration = PromptConfiguration(variables: ["PATH": directory.path])
            configuration.terminal = "/nonexistent"
            configuration.turn = PromptTurn()
            try body(directory, &configuration)
        }
    }

    /// - Parameter question: What it says when it is to ask.
    private func install(_ name: String, _ question: String? = nil, in directory: URL) throws {
        let script = """
            #!/bin/sh
            echo OK
            while read -r line; do
                case "$line" in GETPIN) \(question ?? "echo 'D \(name)'"); echo OK ;; BYE) exit ;; *) echo OK ;; esac
            done
            """
        try write(script, name, in: directory)
    }

    private func write(_ script: String, _ name: String, in directory: URL) throws {
        let file = directory.appendingPathComponent(name)
        try Data(script.utf8).write(to: file)
        chmod(file.path, 0o755)
    }

    private func ask(_ configuration: PromptConfiguration) -> Outcome {
        AskedQuestion.ask(PinentryPrompter(configuration)).0
    }

    @Test("At a display the dialog of the machine's choice comes first, then those of desktops")
    func display() throws {
        for variable in ["DISPLAY", "WAYLAND_DISPLAY"] {
            try withPrograms("pinentry-gtk-2", "pinentry-gnome3", "pinentry-curses") {
                (directory, configuration) throws in
                configuration.variables[variable] = "x"
                #expect(ask(configuration) == .answer("pinentry-gnome3"))
                try install("pinentry", in: directory)
                #expect(ask(configuration) == .answer("pinentry"))
            }
        }
    }

    @Test("At a terminal the dialogs of terminals come first")
    func terminal() throws {
        let terminal = try PseudoTerminal()
        try withPrograms("pinentry", "pinentry-tty") { (directory, configuration) throws in
            #expect(ask(configuration) == .unavailable)
            configuration.terminal = terminal.path
            #expect(ask(configuration) == .answer("pinentry-tty"))
            try install("pinentry-curses", in: directory)
            #expect(ask(configuration) == .answer("pinentry-curses"))
        }
    }

    @Test("KEYCHAIN_PINENTRY comes before all, as a name or an absolute path")
    func chosen() throws {
        try withPrograms("pinentry", "mine") { (directory, configuration) throws in
            configuration.variables["DISPLAY"] = ":7"
            for choice in ["mine", directory.appendingPathComponent("mine").path] {
                configuration.variables["KEYCHAIN_PINENTRY"] = choice
                #expect(ask(configuration) == .answer("mine"))
            }
            for choice in ["", "missing", "./mine", "../\(directory.lastPathComponent)/mine", directory.path] {
                configuration.variables["KEYCHAIN_PINENTRY"] = choice
                #expect(ask(configuration) == .answer("pinentry"))
            }
        }
    }

    @Test("Programs are looked for in absolute directories alone")
    func directories() {
        let path = ".:bin:/usr/bin::../bin:/bin:"
        #expect(PromptConfiguration(variables: ["PATH": path]).directories == ["/usr/bin", "/bin"])
        #expect(PromptConfiguration(variables: [:]).directories == ["/usr/local/bin", "/usr/bin", "/bin"])
    }

    @Test("A program with more rights than its caller does not let the caller choose")
    func secure() {
        let variables = [
            "KEYCHAIN_PINENTRY": "/tmp/mine", "KEYCHAIN_PROMPT": "none", "PATH": "/tmp", "DISPLAY": ":0",
            "GPG_TTY": "/dev/pts/0",
        ]
        let configuration = PromptConfiguration(variables: variables, isSecure: true)
        #expect(configuration.variables == ["DISPLAY": ":0"])
        #expect(configuration.directories == ["/usr/local/bin", "/usr/bin", "/bin"])
        #expect(PromptConfiguration(variables: variables).variables == variables)
    }

    @Test("A dialog is told the terminal and the language; GPG_TTY comes before the program's own, if it is there")
    func options() throws {
        let (own, named) = (try PseudoTerminal(), try PseudoTerminal())
        for (name, path) in [(named.path, named.path), ("/nonexistent", own.path), ("pts/0", own.path), ("", own.path)]
        {
            try withFakePinentry { (pinentry) throws in
                var configuration = pinentry.configuration
                configuration.terminal = own.path
                configuration.variables.merge([
                    "GPG_TTY": name, "TERM": "xterm", "LANG": "de_DE.UTF-8", "LC_MESSAGES": "bad value",
                ]) { $1 }
                #expect(ask(configuration) == .answer(""))
                let options = try pinentry.told("OPTION")
                #expect(options == ["no-grab", "ttyname=\(path)", "ttytype=xterm", "lc-ctype=de_DE.UTF-8"])
            }
        }
    }

    /// Ways not to be able to show anything.
    private static let failures = [
        "no terminal":
            "#!/bin/sh\necho OK\nwhile read -r l; do case $l in GETPIN) echo ERR 83918950 no tty;; *) echo OK;; esac; done",
        "no display": "#!/bin/sh\nexit 1",
        "no format": "neither a script nor a program",
        "no interpreter": "#!/nonexistent/interpreter\n",
    ]

    @Test("A dialog that cannot be shown leaves it to the next", arguments: failures.keys.sorted())
    func next(failure: String) throws {
        try withPrograms("pinentry-gnome3") { (directory, configuration) throws in
            configuration.variables["DISPLAY"] = ":7"
            try write(Self.failures[failure]!, "pinentry", in: directory)
            #expect(ask(configuration) == .answer("pinentry-gnome3"))
        }
    }

    @Test("A dialog that was declined is not followed by another")
    func declined() throws {
        try withPrograms("pinentry-gnome3") { (directory, configuration) throws in
            configuration.variables["DISPLAY"] = ":7"
            try install("pinentry", "echo ERR 83886179 cancelled", in: directory)
            #expect(ask(configuration) == .declined)
        }
    }

    @Test("Where there is none, the message says what was looked for and what to do")
    func none() throws {
        try withPrograms { (directory, configuration) throws in
            var text = AskedQuestion.ask(PinentryPrompter(configuration)).1
            #expect(text.contains("no display"))
            #expect(text.contains("no terminal"))
            configuration.variables["DISPLAY"] = ":7"
            try write(Self.failures["no display"]!, "pinentry-qt", in: directory)
            text = AskedQuestion.ask(PinentryPrompter(configuration)).1
            for part in ["pinentry-gnome3", directory.path, "pinentry-qt ended at once", "install"] {
                #expect(text.contains(part))
            }
        }
    }
}
