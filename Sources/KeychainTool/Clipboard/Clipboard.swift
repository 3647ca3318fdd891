internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainRun
internal import KeychainSystem

/// The time for which a secret stays in the clipboard.
struct ClipTime: ExpressibleByArgument {
    private static let usual = "45s"
    private static let range = 1...3600

    let seconds: Int

    init?(argument: String) {
        guard let seconds = DurationText.seconds(argument), Self.range.contains(seconds) else { return nil }
        self.seconds = seconds
    }

    static var defaultCompletionKind: CompletionKind { .list(["45s", "10s", "2m"]) }

    /// The arguments, with the usual time behind each `--clip` that has none.
    static func completed(_ arguments: some Collection<String>) -> [String] {
        var completed: [String] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--" { return completed + [word] + rest }
            let hasTime = rest.first.map { DurationText.seconds($0) != nil } ?? false
            completed.append(word == "--clip" && !hasTime ? "--clip=\(usual)" : word)
        }
        return completed
    }
}

/// Whether a secret goes to the clipboard in place of standard output.
struct ClipOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Put it into the clipboard for this time (default: 45s), and take it away again if it is still there.",
            valueName: "time"))
    var clip: ClipTime?
    @Flag(help: "Ask the terminal to put it into the clipboard, also over ssh. It stays there.") var osc52 = false

    static var none: ClipOptions {
        var options = ClipOptions()
        (options.clip, options.osc52) = (nil, false)
        return options
    }

    var isChosen: Bool { clip != nil || osc52 }

    func validate() throws {
        if clip != nil && osc52 {
            throw ValidationError("--osc52 needs no --clip: nobody can take away what a terminal has put there.")
        }
    }

    func put(_ secret: SecretBytes) throws {
        if osc52 {
            try Clipboard.askTerminal(secret)
            if Console.errorIsTerminal {
                Console.note("note: the terminal was asked to copy it; it stays until you copy another text")
            }
        } else if let clip {
            try Clipboard.put(secret, for: clip)
            if Console.errorIsTerminal { Console.note("note: copied for \(DurationText.text(seconds: clip.seconds))") }
        }
    }
}

/// The clipboard of the desktop.
enum Clipboard {
    /// Puts a secret into the clipboard for a time. A process that outlives this one takes care of it.
    ///
    /// - Throws: an error if there is no clipboard, or it did not take the secret.
    static func put(_ secret: SecretBytes, for time: ClipTime) throws {
        let program = try ClipboardProgram.found(ProcessInfo.processInfo.environment)
        var input: [Int32] = [-1, -1]
        var answer: [Int32] = [-1, -1]
        guard pipe(&input) == 0, pipe(&answer) == 0 else { throw SystemError("make a pipe", errno) }
        defer { close(answer[0]) }
        let discard = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(discard) }
        _ = try SpawnedProgram(
            "/proc/self/exe", ["clipboard-holder", "--program", program.rawValue, "--time", "\(time.seconds)s"],
            descriptors: (input[0], answer[1], discard), isApart: true)
        close(input[0])
        close(answer[1])
        let failure = secret.withUnsafeBytes { $0.write(to: input[1]) }
        close(input[1])
        var taken: UInt8 = 0
        guard failure == 0, read(answer[0], &taken, 1) == 1 else {
            throw ToolFailure(message: "\(program.rawValue) did not take the secret: is the desktop within reach here?")
        }
    }

    /// Asks the terminal to put a secret into the clipboard of the person's machine (OSC 52). A program cannot see
    /// whether the secret is still there later, so it stays.
    static func askTerminal(_ secret: SecretBytes) throws {
        let terminal = open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { throw ToolFailure(message: "there is no terminal that could be asked (--osc52)") }
        defer { close(terminal) }
        let buffer = SecretBuffer()
        buffer.append("\u{1b}]52;c;")
        buffer.appendBase64(of: secret)
        buffer.append("\u{7}")
        let failure = buffer.withUnsafeBytes { $0.write(to: terminal) }
        if failure != 0 { throw SystemError("write to the terminal", failure) }
    }
}

extension ClipboardProgram: ExpressibleByArgument {}

/// The process that `get --clip` leaves behind. It runs the clipboard program, and clears the clipboard in time.
struct ClipboardHolderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "clipboard-holder", shouldDisplay: false)

    /// The time in which a program that cannot reach the display ends.
    private static let patience: Int32 = 300

    @Option var program: ClipboardProgram
    @Option var time: ClipTime

    func run() throws {
        // A signal that ends this process early takes the secret away, too.
        let signals = try HeldSignals.descriptor(of: [SIGTERM, SIGHUP, SIGINT])
        defer { withExtendedLifetime(signals) {} }
        let variables = ProcessInfo.processInfo.environment
        let discard = open("/dev/null", O_RDWR | O_CLOEXEC)
        let owner = try program.start(variables, input: STDIN_FILENO, discard: discard)
        if owner.hasEnded(within: Self.patience), owner.awaitEnd() != 0 { throw ExitCode(1) }
        try Console.write("1")
        for descriptor in [STDIN_FILENO, STDOUT_FILENO] { dup2(discard, descriptor) }
        // The program's end means that the person has copied something else, which stays.
        guard !owner.hasEnded(within: Int32(time.seconds * 1000), orReadable: signals.number) else { return }
        try program.clear(owner, variables, discard: discard)
    }
}
