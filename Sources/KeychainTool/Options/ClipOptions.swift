internal import ArgumentParser
internal import Glibc
internal import KeychainModel
internal import KeychainRun
internal import KeychainSystem

/// The time for which a secret stays in the clipboard.
struct ClipTime: TimeArgument {
    static let range = 1...3600
    static let examples = ["45s", "10s", "2m"]
    private static let usual = "45s"

    let seconds: Int

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
            try Clipboard.put(secret) { ClipboardHolderCommand.words($0, clip) }
            if Console.errorIsTerminal { Console.note("note: copied for \(DurationText.text(seconds: clip.seconds))") }
        }
    }
}

extension ClipboardProgram: ExpressibleByArgument {}

/// The process that `get --clip` leaves behind. It runs the clipboard program, and clears the clipboard in time.
struct ClipboardHolderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "clipboard-holder", shouldDisplay: false)

    @Option var program: ClipboardProgram
    @Option var time: ClipTime

    /// The words that start it.
    static func words(_ program: ClipboardProgram, _ time: ClipTime) -> [String] {
        ["clipboard-holder", "--program", program.rawValue, "--time", "\(time.seconds)s"]
    }

    func run() throws {
        // A signal that ends this process early takes the secret away, too.
        let signals = try HeldSignals.descriptor(of: [SIGTERM, SIGHUP, SIGINT])
        defer { withExtendedLifetime(signals) {} }
        guard try Clipboard.hold(program, seconds: time.seconds, orReadable: signals.number) else { throw ExitCode(1) }
    }
}
