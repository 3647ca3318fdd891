internal import ArgumentParser
internal import Foundation

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Show what the keychain does, on a throw-away store.",
        discussion: """
            Each step is a real call, and is marked if its status was the one that is told; --full shows the statuses and \
            messages. The store is in a temporary directory, which is removed at the end. The exit status is 1 if any \
            step was not as told.
            """)

    @Flag(help: "Tell the status and the message of every step.") var full = false
    @OptionGroup var errors: JSONErrors

    func run() throws {
        // The signals are held, and looked at between two steps, so that the directory is always removed.
        let signals = HeldSignals()
        defer { signals.release() }
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("keychain-demo-\(UUID().uuidString.prefix(8))", isDirectory: true)
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let narrator = DemoNarrator(isFull: full, shouldStop: { signals.arePending })
        // Some steps damage the store, and the engine would warn of the damage.
        let outcome = Result {
            try WarningsToStandardError.$areHeld.withValue(true) { try Demo(in: directory, narrator: narrator).run() }
        }
        try FileManager.default.removeItem(at: directory)
        try outcome.get()
        guard narrator.mistakes == 0 else {
            throw ToolFailure(message: "\(narrator.mistakes) of the steps were not as told; please report this")
        }
        try Console.write("\nEvery step was as told. The store is gone: \(directory.path) is removed.\n")
    }
}
