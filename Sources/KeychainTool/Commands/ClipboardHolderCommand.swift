internal import ArgumentParser
internal import CKeychainLinux
internal import FoundationEssentials
internal import Glibc
internal import KeychainRun

/// The process that `get --clip` leaves behind. It runs the clipboard program, and clears the clipboard in time.
struct ClipboardHolderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "clipboard-holder", shouldDisplay: false)

    /// The time in which a program that cannot reach the display ends.
    private static let patience: Int32 = 300

    @Option var program: ClipboardProgram
    @Option var time: ClipTime

    func run() throws {
        // A signal that ends this process early takes the secret away, too.
        let ends = [SIGTERM, SIGHUP, SIGINT]
        var signals: Int32 = -1
        let failure = ckeychain_hold_signals(ends, ends.count, &signals)
        guard failure == 0 else {
            throw ToolFailure(message: "cannot wait for signals: \(String(cString: strerror(failure)))")
        }
        let variables = ProcessInfo.processInfo.environment
        let discard = open("/dev/null", O_RDWR | O_CLOEXEC)
        let owner = try program.start(variables, input: STDIN_FILENO, discard: discard)
        if owner.hasEnded(within: Self.patience), owner.awaitEnd() != 0 { throw ExitCode(1) }
        try Console.write("1")
        for descriptor in [STDIN_FILENO, STDOUT_FILENO] { dup2(discard, descriptor) }
        // The program's end means that the person has copied something else, which stays.
        guard !owner.hasEnded(within: Int32(time.seconds * 1000), orReadable: signals) else { return }
        try program.clear(owner, variables, discard: discard)
    }
}
