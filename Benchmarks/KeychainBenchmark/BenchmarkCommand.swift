internal import ArgumentParser

/// The engine against the least that could be done on the same schema. Benchmarks/README.md explains every row.
@main
struct BenchmarkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "KeychainBenchmark",
        abstract: "Measures the keychain against raw SQLite and OpenSSL, in turn, in one run.",
        subcommands: [
            RunCommand.self, DaemonCommand.self, SoakCommand.self, RepeatCommand.self, LookUpOnceCommand.self,
            CompareCommand.self, LoadCommand.self, FilesCommand.self, KeysCommand.self, CallsCommand.self,
        ],
        defaultSubcommand: RunCommand.self)
}
