import Foundation
import Testing

/// Signals and the terminal, with and without the process that masks.
@Suite struct RunSignalTests {
    /// A program that writes down "ready" and the signals that it gets, and ends with 5 after SIGTERM.
    private static let listener = """
        import os, signal, sys
        numbers = [signal.SIGUSR1, signal.SIGHUP, signal.SIGTERM]
        signal.pthread_sigmask(signal.SIG_SETMASK, numbers)
        signal.alarm(120)
        def note(text): print(text, file=open(os.environ["LOG"], "a"))
        note("ready")
        while True:
            number = signal.sigwait(numbers)
            note(signal.Signals(number).name)
            if number == signal.SIGTERM: sys.exit(5)
        """

    @Test("A signal to keychainctl reaches the command", arguments: [[], ["--no-masking"]])
    func passedOn(options: [String]) throws {
        try withSecrets(["a": "secret-value"]) { (tool) throws in
            let person = """
                import os, signal, subprocess, sys, time
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
                signal.alarm(120)
                log = os.environ["LOG"]
                def expect(text):
                    while not os.path.exists(log) or text not in open(log).read().split(): time.sleep(0.01)
                command = [os.environ["K"], "run", *sys.argv[1:], "--", "python3", "-c", os.environ["LISTENER"]]
                process = subprocess.Popen(command, stdout=open(log + ".out", "w"))
                expect("ready")
                for name in ["SIGUSR1", "SIGHUP", "SIGTERM"]:
                    process.send_signal(getattr(signal, name))
                    expect(name)
                print(process.wait())
                """
            var tool = tool
            let log = tool.home.appendingPathComponent("log")
            tool.variables["S"] = "keychain://generic/a/ada"
            tool.variables["LOG"] = log.path
            tool.variables["LISTENER"] = Self.listener
            try Data(person.utf8).write(to: tool.home.appendingPathComponent("person.py"))
            #expect(try tool.shell("python3 $HOME/person.py \(options.joined(separator: " "))").text == "5\n")
            let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
            #expect(lines == ["ready", "SIGUSR1", "SIGHUP", "SIGTERM"])
        }
    }

    @Test("The end of the terminal reaches the command, as it would if keychainctl were not there")
    func hangup() throws {
        try withSecrets(["a": "secret-value"]) { (tool) throws in
            let person = """
                import os, pty, signal, time
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
                signal.alarm(120)
                log = os.environ["LOG"]
                def expect(text):
                    while not os.path.exists(log) or text not in open(log).read().split(): time.sleep(0.01)
                # The first process of the session, with the terminal.
                child, terminal = pty.fork()
                if child == 0:
                    output = os.open(log + ".out", os.O_WRONLY | os.O_CREAT)
                    for descriptor in [1, 2]: os.dup2(output, descriptor)
                    os.execvp(os.environ["K"], ["keychainctl", "run", "--", "python3", "-c", os.environ["LISTENER"]])
                expect("ready")
                os.close(terminal)
                expect("SIGHUP")
                os.kill(child, signal.SIGTERM)
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                """
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            tool.variables["LOG"] = tool.home.appendingPathComponent("log").path
            tool.variables["LISTENER"] = Self.listener
            try Data(person.utf8).write(to: tool.home.appendingPathComponent("person.py"))
            #expect(try tool.shell("python3 $HOME/person.py").text == "5\n")
        }
    }

    @Test("A signal that ends the command ends keychainctl too, whatever the command has left in the background")
    func background() throws {
        try withSecrets(["a": "secret-value"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let script = """
                cd
                $K run -- sh -c 'sleep 100 & echo $!; wait' >log & run=$!
                until [ -s log ]; do :; done
                kill -TERM $run
                wait $run
                echo $?
                kill "$(cat log)"
                """
            #expect(try tool.shell(script).text == "143\n")
        }
    }

    @Test("A signal that the command goes on after costs none of its output, however slow the reader is")
    func survived() throws {
        try withSecrets(["a": "secret-value"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            // More than the pipe behind keychainctl takes at once, and less than both pipes take.
            let script = """
                cd
                mkfifo out
                $K run -- sh -c 'trap "echo >go" HUP; echo $$ >log; until [ -s go ]; do :; done
                    head -c 100000 /dev/zero | tr "\\0" a' >out & run=$!
                exec 3<out
                until [ -s log ]; do :; done
                kill -HUP $run
                while kill -0 "$(cat log)" 2>/dev/null; do :; done
                wc -c <&3
                """
            #expect(try tool.shell(script).text == "100000\n")
        }
    }

    @Test(
        "keychainctl leaves no core file, which would have the secrets in it, whichever signal ends it",
        arguments: ["kill -ABRT $PPID", "kill -SEGV $$", "kill -QUIT $$"])
    func noCore(script: String) throws {
        try withSecrets(["a": "secret-value"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            tool.variables["SCRIPT"] = script
            let program = """
                import os, resource, subprocess
                hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
                resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
                command = [os.environ["K"], "run", "--", "sh", "-c", os.environ["SCRIPT"]]
                process = subprocess.Popen(command, stdout=subprocess.PIPE)
                status = os.waitpid(process.pid, 0)[1]
                print(os.WIFSIGNALED(status), os.WCOREDUMP(status))
                """
            try Data(program.utf8).write(to: tool.home.appendingPathComponent("program.py"))
            #expect(try tool.shell("cd && python3 program.py && ls | grep core").text == "True False\n")
        }
    }

    @Test("No command leaves a core file, also while it asks for a secret")
    func noCoreAtPrompt() throws {
        try withTool { (tool) throws in
            let program = """
                import os, pty, resource, signal
                signal.alarm(120)
                hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
                resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
                child, terminal = pty.fork()
                if child == 0: os.execv(os.environ["K"], ["keychainctl", "add", "mail.example"])
                screen = b""
                while b"Secret for" not in screen: screen += os.read(terminal, 4096)
                os.kill(child, signal.SIGABRT)
                status = os.waitpid(child, 0)[1]
                print(os.WIFSIGNALED(status), os.WCOREDUMP(status))
                """
            try Data(program.utf8).write(to: tool.home.appendingPathComponent("program.py"))
            #expect(try tool.shell("cd && python3 program.py").text == "True False\n")
        }
    }

    @Test("The command leaves no core file either, unless it is allowed to", arguments: ["", "--no-masking"])
    func coresOfCommand(option: String) throws {
        try withSecrets(["a": "secret-value"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let show = "awk '/core file/ { print $5, $6 }' /proc/self/limits"
            let limit = "ulimit -S -c 8 && "
            #expect(try tool.shell("\(limit)$K run \(option) -- \(show)").text == "1 1\n")
            #expect(try tool.shell("\(limit)$K run \(option) --cores -- \(show)").text == tool.shell(limit + show).text)
        }
    }

    @Test(
        "Signals that were ignored stay ignored, and those that keychainctl ignores are not",
        arguments: ["", "--no-masking"])
    func dispositions(option: String) throws {
        try withSecrets(["a": "secret-value"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let show = "grep -E '^Sig(Blk|Ign):' /proc/self/status"
            for setting in ["", "trap '' HUP PIPE INT; ", "trap '' USR1 CHLD XFSZ; "] {
                let here = try tool.shell("\(setting)\(show)").text
                let there = try tool.shell("\(setting)$K run \(option) -- \(show)").text
                #expect(there == here, "\(setting)")
            }
        }
    }

    @Test("At a terminal the command has the terminal itself, and nothing is between them")
    func terminal() throws {
        try withSecrets(["a": "secret-value"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let script = "test -t 1 && test -t 2 && echo \"$S $(cat /proc/$$/comm)\""
            let session = try TerminalSession(tool, words: ["run", "--", "sh", "-c", script], showsOutput: true)
            #expect(try session.end() == 0)
            #expect(session.lines == ["secret-value sh", ""])
        }
    }

    @Test("In a shell ^Z stops the command with its pipe, fg goes on, and ^C interrupts it, masked or not")
    func jobControl() throws {
        try withSecrets(["a": "secret-value"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            for filter in [" | cat", ""] {
                let arguments = ["python3", "-c", Self.shellSession, filter]
                let outcome = try tool.start(URL(fileURLWithPath: "/usr/bin/env"), arguments, input: Data())
                #expect(outcome.status == 0, "\(outcome.errors)")
            }
        }
    }

    /// An interactive shell at a terminal of its own, and a person who types when something has happened.
    /// The shell leaves the terminal's modes alone, so that it takes one line at a time and leaves the next to the command.
    private static let shellSession = """
        import os, pty, select, signal, sys, time
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        signal.alarm(120)
        child, terminal = pty.fork()
        if child == 0:
            os.environ["PS1"] = "shell> "
            os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])
        screen = b""
        def expect(text):
            global screen, before
            while text not in screen:
                ready = select.select([terminal], [], [], 60)[0]
                if not ready: sys.exit("never seen: %r, but %r" % (text, screen))
                screen += os.read(terminal, 4096)
            before, screen = screen.split(text, 1)
        def type(text): os.write(terminal, text.encode())
        expect(b"shell> ")
        script = 'echo $$ be""gin; while read word; do echo "<$word>"; done'
        type("%s run -- sh -c '%s'%s\\n" % (os.environ["K"], script, sys.argv[1]))
        expect(b" begin")
        command = before.split()[-1].decode()
        type("one\\n")
        expect(b"<one>")
        type("\\x1a")
        expect(b"Stopped")
        expect(b"shell> ")
        # The shell sees keychainctl stop, which is its child. The command may be about to.
        while open("/proc/%s/stat" % command).read().rsplit(")", 1)[1].split()[0] != "T": time.sleep(0.01)
        type("jobs; echo in the sh''ell\\n")
        expect(b"in the shell")
        expect(b"shell> ")
        type("fg\\n")
        type("two\\n")
        expect(b"<two>")
        type("\\x03")
        expect(b"shell> ")
        type('echo "status ${PIPESTATUS[0]}"\\n')
        expect(b"status 130")
        type("jobs; echo no jo''bs; exit\\n")
        expect(b"no jobs")
        """
}
