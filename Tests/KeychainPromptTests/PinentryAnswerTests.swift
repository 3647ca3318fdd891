import Foundation
import KeychainModel
import KeychainPrompt
import Testing

@Suite struct PinentryAnswerTests {
    /// Every byte that UTF-8 text may have, and the ends of its ranges.
    private static let everyByte =
        String(String.UnicodeScalarView((0...0x7ff).compactMap { Unicode.Scalar($0) }))
        + "\u{800}\u{fff}\u{1000}\u{cfff}\u{d000}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{3ffff}\u{40000}\u{fffff}\u{100000}"

    /// Ways to say the same.
    private static let ways = [
        "what is needed": "b''.join(b'%%%02X' % c if c in b'%\\r\\n' else bytes([c]) for c in text)",
        "everything": "b''.join(b'%%%02X' % c for c in text)",
        "everything, in small letters": "b''.join(b'%%%02x' % c for c in text)",
    ]

    @Test("An answer arrives byte for byte, whatever is escaped", arguments: ways.keys.sorted())
    func escaped(way: String) throws {
        let scenario = """
            text = bytes.fromhex("\(Data(Self.everyByte.utf8).map { String(format: "%02x", $0) }.joined())")
            def cut(data):
                while data:
                    length = min(len(data), 900)
                    while b"%" in data[max(0, length - 2):length]: length -= 1
                    yield b"D " + data[:length]
                    data = data[length:]
            def answer(command, line):
                if command == "GETPIN": return list(cut(\(Self.ways[way]!))) + ["OK"]
            """
        try withFakePinentry(scenario) { (pinentry) throws in
            #expect(AskedQuestion.ask(pinentry.prompter).0 == .answer(Self.everyByte))
            #expect(try pinentry.isGone)
        }
    }

    @Test("An answer in parts, with comments and status between them and in pieces on the way, is one")
    func parts() throws {
        let scenario = """
            def answer(command, line):
                if command != "GETPIN": return None
                say("# first", "D se", "S SOMETHING of no interest", "D %63r", "D ")
                os.write(1, b"D e"); os.write(1, b"t"); os.write(1, b"%2"); os.write(1, b"5"); os.write(1, b"\\n")
                return ["OK done"]
            """
        try withFakePinentry(scenario) { (pinentry) throws in
            #expect(AskedQuestion.ask(pinentry.prompter).0 == .answer("secret%"))
        }
    }

    @Test("An empty answer is one")
    func empty() throws {
        try withFakePinentry { (pinentry) throws in #expect(AskedQuestion.ask(pinentry.prompter).0 == .answer("")) }
    }

    @Test(
        "What a program refuses with becomes what it means, whoever it says it comes from",
        arguments: [
            (99, Outcome.declined), (83_886_179, .declined), (198, .declined), (83_886_278, .declined),
            (114, .declined),
            (62, .timedOut), (83_886_142, .timedOut), (1, .failed), (83_886_081, .failed), (83_918_950, .unavailable),
            (83_918_929, .unavailable), (83_886_145, .failed), (83_886_149, .unavailable), (83_886_165, .unavailable),
        ])
    func refusal(code: Int, outcome: Outcome) throws {
        let scenario = """
            def answer(command, line):
                if command == "GETPIN": return ["ERR \(code) \\033[2Jso it is <Pinentry>"]
            """
        try withFakePinentry(scenario) { (pinentry) throws in
            let (result, text) = AskedQuestion.ask(pinentry.prompter)
            #expect(result == outcome)
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 })
            #expect(try pinentry.isGone)
        }
    }

    private static let deaths = [
        "before it greets": ("sys.exit(1)", Outcome.unavailable),
        "by a signal before it greets": ("os.kill(os.getpid(), signal.SIGABRT)", .unavailable),
        "when it is told what to say": ("def answer(c, l): sys.exit(0) if c == 'SETDESC' else None", .unavailable),
        "while it asks": ("def answer(c, l): sys.exit(0) if c == 'GETPIN' else None", .failed),
        "by a signal while it asks": (
            "def answer(c, l): os.kill(os.getpid(), signal.SIGSEGV) if c == 'GETPIN' else None", .failed
        ),
        "by ^C while it asks": (
            "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
                + "def answer(c, l): os.kill(os.getpid(), signal.SIGINT) if c == 'GETPIN' else None", .declined
        ),
        "in the middle of an answer": (
            "def answer(c, l):\n  if c == 'GETPIN': os.write(1, b'D secr'); os._exit(0)", .failed
        ),
        "after an answer without its end": (
            "def answer(c, l):\n  if c == 'GETPIN': say('D secret'); os._exit(0)", .failed
        ),
    ]

    @Test("A program that ends instead of answering gives no answer", arguments: deaths.keys.sorted())
    func death(when: String) throws {
        let (scenario, outcome) = try #require(Self.deaths[when])
        try withFakePinentry(scenario) { (pinentry) throws in
            #expect(AskedQuestion.ask(pinentry.prompter).0 == outcome)
            #expect(try pinentry.isGone)
        }
    }

    private static let garbage = [
        "another protocol": "greeting = ['HTTP/1.1 200 OK']",
        "bytes that are no text": "greeting = [bytes(range(11, 256))]",
        "an empty line": "greeting = ['']",
        "a line without an end": "os.write(1, b'OK ' + b'x' * 5000)\nsignal.pause()",
        "lines without an end": "greeting = ['# chatter'] * 100000",
        "a percent sign alone": "def answer(c, l): return ['D 100%', 'OK'] if c == 'GETPIN' else None",
        "a percent sign with one digit": "def answer(c, l): return ['D %4', 'OK'] if c == 'GETPIN' else None",
        "a percent sign with no digits": "def answer(c, l): return ['D %zz', 'OK'] if c == 'GETPIN' else None",
        "an error without a number": "def answer(c, l): return ['ERR none'] if c == 'GETPIN' else None",
        "data that nothing asked for": "def answer(c, l): return ['D secret', 'OK'] if c == 'SETDESC' else None",
        "an answer that is too long":
            "def answer(c, l): return ['D ' + 'x' * 900] * 5 + ['OK'] if c == 'GETPIN' else None",
        "a question of its own": "def answer(c, l): return ['INQUIRE QUALITY x'] if c == 'GETPIN' else None",
    ]

    @Test("A program that does not speak the protocol fails", arguments: garbage.keys.sorted())
    func garbled(what: String) throws {
        let scenario = "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n" + Self.garbage[what]!
        try withFakePinentry(scenario) { (pinentry) throws in
            #expect(AskedQuestion.ask(pinentry.prompter).0 == .failed)
            #expect(try pinentry.isGone)
        }
    }

    @Test("A person who does not answer ends the question, with a program that does not count the time too")
    func timeOut() throws {
        let scenario = "def answer(command, line): signal.pause() if command == 'GETPIN' else None"
        try withFakePinentry(scenario) { (pinentry) throws in
            var configuration = pinentry.configuration
            configuration.limits.answer = .milliseconds(1)
            configuration.limits.grace = .milliseconds(1)
            #expect(AskedQuestion.ask(PinentryPrompter(configuration)).0 == .timedOut)
            #expect(try pinentry.told("SETTIMEOUT") == ["1"])
            #expect(try pinentry.isGone)
        }
    }

    @Test("A program that says nothing is not waited for for ever")
    func mute() throws {
        try withFakePinentry("signal.pause()") { (pinentry) throws in
            var configuration = pinentry.configuration
            configuration.limits.reply = .milliseconds(1)
            let (outcome, text) = AskedQuestion.ask(PinentryPrompter(configuration))
            #expect(outcome == .unavailable)
            #expect(text.contains("does not answer"))
        }
    }

    @Test("A person has two minutes")
    func defaultTime() throws {
        try withFakePinentry { (pinentry) throws in
            _ = AskedQuestion.ask(pinentry.prompter)
            #expect(try pinentry.told("SETTIMEOUT") == ["120"])
        }
    }

    @Test("A program that goes on after its answer is ended")
    func lingering() throws {
        let scenario = """
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            def answer(command, line):
                if command == "GETPIN": return ["D secret", "OK"]
                if command == "BYE":
                    while True: signal.pause()
            """
        try withFakePinentry(scenario) { (pinentry) throws in
            var configuration = pinentry.configuration
            configuration.limits.end = .milliseconds(1)
            #expect(AskedQuestion.ask(PinentryPrompter(configuration)).0 == .answer("secret"))
            #expect(try pinentry.isGone)
        }
    }
}
