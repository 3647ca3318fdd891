internal import ArgumentParser
internal import Foundation

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Show what the keychain does, on a throw-away store.",
        discussion: """
            Each step shows the status that the call really had. The store is in a temporary directory, which is \
            removed at the end. The exit status is 1 if any step was not as told.
            """)

    @OptionGroup var errors: JSONErrors

    func run() throws {
        // Held so that the directory is removed also when someone loses patience; asked about between two steps.
        let signals = HeldSignals()
        defer { signals.release() }
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("keychain-demo-\(UUID().uuidString.prefix(8))", isDirectory: true)
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let narrator = DemoNarrator(shouldStop: { signals.arePending })
        let outcome = Result { try Demo(in: directory, narrator: narrator).run() }
        try FileManager.default.removeItem(at: directory)
        try outcome.get()
        guard narrator.mistakes == 0 else {
            throw ToolFailure(message: "\(narrator.mistakes) of the steps were not as told; please report this")
        }
        try Console.write("\nEvery step was as told. The store is gone: \(directory.path) is removed.\n")
    }
}
