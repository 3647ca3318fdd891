internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainSystem

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Show what the keychain does, on a throw-away store.",
        discussion: """
            Each step is a command line that runs at a terminal, and is marked if its exit status and its output were the \
            ones that are told; --full shows the lines and what they say. The store is in a temporary directory, which is \
            removed at the end. The exit status is 1 if any step was not as told.
            """)

    @Flag(help: "Show the command line, the output and the status of every step.") var full = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        // The signals are held, and looked at while a step runs, so that the directory is always removed.
        let signals = HeldSignals()
        defer { signals.release() }
        let home = FileManager.default.temporaryDirectory
            .appendingPathComponent("keychain-demo-\(UUID().uuidString.prefix(8))", isDirectory: true)
        if !json {
            try Console.write("A tour of the keychain in \(home.path), a home directory that is thrown away.\n")
            try Console.write("Each step is a command line; the statuses and the outputs are real.\n")
        }
        let outcome = Result { try Self.show(home, isFull: full, isForScripts: json) { signals.arePending } }
        let removal = Result { try FileManager.default.removeItem(at: home) }
        let report = try outcome.get()
        try removal.get()
        if json { try report.writeJSON() }
        guard report.mistakes == 0 else {
            throw ToolFailure(message: "\(report.mistakes) of the steps were not as told; please report this")
        }
        if !json { try Console.write("\nEvery step was as told. The store is gone: \(home.path) is removed.\n") }
    }

    private static func show(
        _ home: URL, isFull: Bool, isForScripts: Bool, _ shouldStop: @escaping () -> Bool
    ) throws -> DemoReport {
        let programs = home.appendingPathComponent("bin")
        try FileManager.default.createDirectory(
            at: programs, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.createSymbolicLink(
            atPath: programs.appendingPathComponent("keychainctl").path,
            withDestinationPath: FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let terminal = DemoTerminal(home: home, shouldStop: shouldStop)
        return try Demo(terminal: terminal, isFull: isFull, isForScripts: isForScripts).run(DemoStep.all)
    }
}
