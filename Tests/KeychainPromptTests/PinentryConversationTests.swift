import Foundation
import Glibc
import KeychainModel
import KeychainPrompt
import KeychainTestSupport
import Testing

@Suite struct PinentryConversationTests {
    // MARK: - A new password

    /// Answers that come one after the other, and what becomes of SETREPEAT.
    private func scenario(_ answers: [String], repeats: String, repeated: Bool = false) -> String {
        """
        answers = \(answers)
        def answer(command, line):
            if command == "SETREPEAT": return ["\(repeats)"]
            if command == "GETPIN": return \(repeated ? "['S PIN_REPEATED'] + " : "")["D " + answers.pop(0), "OK"]
        """
    }

    @Test("A new password is typed twice in the program's own way, where it says that it did so")
    func repeated() throws {
        try withFakePinentry(scenario(["secret"], repeats: "OK", repeated: true)) { (pinentry) throws in
            #expect(AskedQuestion.ask(pinentry.prompter, .new).0 == .answer("secret"))
            #expect(try pinentry.told("GETPIN").count == 1)
            #expect(try pinentry.told("SETREPEATERROR").count == 1)
        }
    }

    @Test(
        "A program that cannot have a new password repeated asks twice",
        arguments: ["ERR 536871187 Unknown IPC command", "OK"])
    func askedTwice(repeats: String) throws {
        try withFakePinentry(scenario(["secret", "secret"], repeats: repeats)) { (pinentry) throws in
            #expect(AskedQuestion.ask(pinentry.prompter, .new).0 == .answer("secret"))
            #expect(try pinentry.told("GETPIN").count == 2)
            #expect(try Set(pinentry.told("SETPROMPT")).count == 2)
        }
    }

    @Test("Two that differ are asked for again, with a word about it")
    func mismatch() throws {
        let answers = ["secret", "secreT", "other", "other"]
        try withFakePinentry(scenario(answers, repeats: "ERR 275")) { (pinentry) throws in
            #expect(AskedQuestion.ask(pinentry.prompter, .new).0 == .answer("other"))
            #expect(try pinentry.told("SETERROR").count == 1)
        }
    }

    @Test("Two that differ three times are none")
    func mismatches() throws {
        let answers = ["a", "b", "c", "d", "e", "f"]
        try withFakePinentry(scenario(answers, repeats: "ERR 275")) { (pinentry) throws in
            #expect(AskedQuestion.ask(pinentry.prompter, .new).0 == .failed)
            #expect(try pinentry.isGone)
        }
    }

    @Test("Only a new password is asked for twice")
    func onlyNew() throws {
        try withFakePinentry { (pinentry) throws in
            for wanted in [PromptQuestion.Wanted.passcode, .applicationPassword] {
                let question = PromptQuestion(wanted, reason: nil, program: "Ada")
                #expect(AskedQuestion.ask(pinentry.prompter, question).0 == .answer(""))
            }
            #expect(try pinentry.told("SETREPEAT").isEmpty)
            #expect(try pinentry.told("GETPIN").count == 2)
        }
    }

    // MARK: - A notice

    @Test("A notice with a fallback has two buttons: one chooses it, the other declines")
    func notice() throws {
        let notice = PromptNotice.test(fallback: "Use_passcode")
        try withFakePinentry { (pinentry) throws in
            #expect(AskedQuestion.show(pinentry.prompter, notice).0 == .chosen)
            #expect(try pinentry.told("SETOK") == ["Use__passcode"])
            #expect(try pinentry.told("SETCANCEL") == ["Cancel"])
            #expect(try pinentry.told("CONFIRM") == [""])
            #expect(try pinentry.told("SETDESC").first?.contains("touch the reader") == true)
        }
        try withFakePinentry("def answer(c, l): return ['ERR 83886194 not'] if c == 'CONFIRM' else None") {
            (pinentry) throws in
            #expect(AskedQuestion.show(pinentry.prompter, notice).0 == .declined)
        }
    }

    @Test("A notice without a fallback has one button, which declines")
    func plainNotice() throws {
        try withFakePinentry { (pinentry) throws in
            #expect(AskedQuestion.show(pinentry.prompter, .test()).0 == .declined)
            #expect(try pinentry.told("CONFIRM") == ["--one-button"])
            #expect(try pinentry.told("SETOK") == ["Cancel"])
        }
    }

    @Test("A notice goes when the reader has seen what it waited for")
    func noticeCancelled() throws {
        let scenario = """
            def answer(command, line):
                if command == "CONFIRM": tell(); signal.pause()
            """
        try withFakePinentry(scenario) { (pinentry) throws in
            let asked = AskedQuestion(pinentry.prompter, showing: .test())
            try pinentry.awaitNews()
            asked.cancellation.cancel()
            #expect(try asked.outcome() == .cancelled)
            #expect(try pinentry.isGone)
        }
    }

    // MARK: - Cancellation

    private static let endings = [
        "waits": "signal.pause()",
        "answers when it is told to end":
            "signal.signal(signal.SIGTERM, lambda *_: (say('D secret', 'OK'), note('ANSWERED'), os._exit(0)))\n"
            + "        while True: signal.pause()",
        "does not want to end":
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n        while True: signal.pause()",
        "is stopped": "os.kill(os.getpid(), signal.SIGSTOP)",
    ]

    @Test("A question that is cancelled has no answer, whatever its program does", arguments: endings.keys.sorted())
    func cancelled(how: String) throws {
        let ending = try #require(Self.endings[how])
        // What it does is in place when it tells.
        let parts = ending.split(separator: "\n", maxSplits: 1).map(String.init)
        let before = parts.count > 1 ? parts[0] : ""
        let scenario = """
            def answer(command, line):
                if command == "GETPIN":
                    \(before)
                    tell()
            \(parts.count > 1 ? parts[1] : "        " + parts[0])
            """
        try withFakePinentry(scenario) { (pinentry) throws in
            var configuration = pinentry.configuration
            configuration.limits.end = how.hasPrefix("answers") ? .seconds(60) : .milliseconds(1)
            let asked = AskedQuestion(PinentryPrompter(configuration))
            try pinentry.awaitNews()
            asked.cancellation.cancel()
            #expect(try asked.outcome() == .cancelled)
            #expect(try pinentry.isGone)
            #expect(try pinentry.told("ANSWERED").isEmpty != how.hasPrefix("answers"))
        }
    }

    @Test("A question that was cancelled before is not asked")
    func cancelledBefore() throws {
        try withFakePinentry("note('STARTED')") { (pinentry) throws in
            let cancellation = Cancellation()
            cancellation.cancel()
            #expect(AskedQuestion.ask(pinentry.prompter, .test, cancellation).0 == .cancelled)
            #expect(!FileManager.default.fileExists(atPath: pinentry.directory.appendingPathComponent("log").path))
        }
    }

    // MARK: - Two at once

    /// Answers when the test has put a file there.
    private static let patient = """
        import time
        def answer(command, line):
            if command == "GETPIN":
                tell()
                with open(here + "/gate") as gate: gate.read(1)
                return ["D " + str(os.getpid()), "OK"]
        """

    @Test("Two questions at once are asked one after the other")
    func oneAfterTheOther() throws {
        try withFakePinentry(Self.patient) { (pinentry) throws in
            let gate = try Gate(in: pinentry.directory)
            let configuration = pinentry.configuration
            let prompter = PinentryPrompter(configuration)
            let first = AskedQuestion(prompter)
            try pinentry.awaitNews()
            let second = AskedQuestion(prompter)
            configuration.turn.awaitWaiting(1)
            #expect(try pinentry.processes.count == 1)
            try gate.open()
            try pinentry.awaitNews()
            let firstOutcome = try first.outcome()
            #expect(try firstOutcome == .answer("\(pinentry.processes[0])"))
            try gate.open()
            #expect(try second.outcome() == .answer("\(pinentry.processes[1])"))
        }
    }

    @Test("A question that waits for its turn can be cancelled, and the one after it has its turn")
    func cancelledInTurn() throws {
        try withFakePinentry(Self.patient) { (pinentry) throws in
            let gate = try Gate(in: pinentry.directory)
            let configuration = pinentry.configuration
            let prompter = PinentryPrompter(configuration)
            let first = AskedQuestion(prompter)
            try pinentry.awaitNews()
            let second = AskedQuestion(prompter)
            configuration.turn.awaitWaiting(1)
            let third = AskedQuestion(prompter)
            configuration.turn.awaitWaiting(2)
            second.cancellation.cancel()
            #expect(try second.outcome() == .cancelled)
            try gate.open()
            #expect(try first.outcome() == .answer("\(pinentry.processes[0])"))
            try pinentry.awaitNews()
            try gate.open()
            #expect(try third.outcome() == .answer("\(pinentry.processes[1])"))
        }
    }

    // MARK: - What others see

    @Test("Neither the answer nor the program's own variables are in the dialog's arguments or environment")
    func environment() throws {
        let scenario = """
            def answer(command, line):
                if command == "GETPIN": return ["D hushhushhush", "OK"]
                if command == "BYE":
                    for name in ("cmdline", "environ"):
                        note(name.upper() + " " + open("/proc/self/" + name).read().replace("\\0", " "))
            """
        try withFakePinentry(scenario) { (pinentry) throws in
            var configuration = pinentry.configuration
            configuration.variables.merge([
                "TOKEN": "hushhushhush", "LD_PRELOAD": "/nonexistent.so", "GTK_MODULES": "bad", "LC_TIME": "C",
                "DISPLAY": ":7", "HOME": "/home/ada", "GTK_THEME": "Adwaita", "_assuan_connection_fd": "5",
            ]) { $1 }
            #expect(AskedQuestion.ask(PinentryPrompter(configuration)).0 == .answer("hushhushhush"))
            let arguments = try #require(pinentry.told("CMDLINE").first)
            let variables = try #require(pinentry.told("ENVIRON").first).split(separator: " ").map(String.init)
            #expect(!arguments.contains("hush"))
            let names = Set(variables.map { String($0.prefix { $0 != "=" }) })
            #expect(names == ["DISPLAY", "HOME", "GTK_THEME", "LC_TIME", "LC_CTYPE", "PATH"])
            let log = try pinentry.log
            #expect(!log.contains { $0.contains("hush") })
        }
    }

    @Test("The dialog has no descriptors but its own")
    func descriptors() throws {
        try withFakePinentry("note('FDS ' + ' '.join(sorted(os.listdir('/proc/self/fd'))))") { (pinentry) throws in
            _ = AskedQuestion.ask(pinentry.prompter)
            // 3 is the note's file and 4 the list of these; the scenario's own file is closed.
            #expect(
                try Set(pinentry.told("FDS")[0].split(separator: " ")).isSubset(of: ["0", "1", "2", "3", "4", "5"]))
        }
    }
}

/// What a program of a test waits at.
struct Gate {
    private let pipe: FileHandle

    init(in directory: URL) throws {
        let path = directory.appendingPathComponent("gate").path
        mkfifo(path, 0o600)
        pipe = FileHandle(fileDescriptor: Glibc.open(path, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
    }

    /// For one that waits, or comes.
    func open() throws { try pipe.write(contentsOf: Data("x".utf8)) }
}

extension PromptTurn {
    /// Returns when so many questions wait.
    func awaitWaiting(_ count: Int) {
        while waitingCount < count { sched_yield() }
    }
}
