import ArgumentParser
import Testing

@testable import KeychainTool

/// A command is read alone, and a line with a mistake from the root.
@Suite struct CommandLineTests {
    @Test(
        "A command that is read alone has the values that it has when it is read from the root",
        arguments: [
            "get generic", "get generic --service s", "get generic --account a --service s --group G --label L",
            "get internet --server h --path /p --comment c --description d", "get key --tag t", "get key one",
            "get --store /a --device-key /b generic --service s --no-interaction", "find", "find generic --json",
            "find --service s --ask", "ls mail", "get generic --service=s", "get -- generic", "get x --clip",
            "get x --clip 10s --format pem", "find --accessible always", "find --protocol https --sync yes",
            "add generic --service s --account a", "add mail.example --account a --label l --update --generate",
            "add generic mail.example --account a --json", "insert mail.example", "rm mail.example --all",
            "add generic --service s --account a --require passcode --accessible when-passcode-set",
            "add internet --server h --account a", "status", "passcode set", "file class --set none a b",
            "run --only A -- make -j 4 --json", "key generate --tag t --type rsa2048", "update x --set-label l",
            "setup git --dry-run",
        ])
    func same(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let alone = try KeychainCommand.parsed(words)
        let parsed = try KeychainCommand.parseAsRoot(ClipTime.completed(words))
        #expect(type(of: alone) == type(of: parsed))
        #expect(parsedValues(of: alone) == parsedValues(of: parsed))
        #expect(!parsedValues(of: alone).isEmpty)
    }

    @Test(
        "A line with a mistake, and one for help, ends as it does from the root",
        arguments: [
            "", "get", "get --help", "get generic -h", "get generic --service", "get one two",
            "get generic --server h", "get generic --reference x", "add --service s", "add generic --service s",
            "add generic --service s --account a extra", "add one two",
            "status extra", "file", "file class", "help get", "passcode", "get --version",
            "get x --clip --osc52", "find --sync maybe", "--generate-completion-script bash",
            "status --experimental-dump-help",
        ])
    func otherwise(line: String) {
        let words = line.split(separator: " ").map(String.init)
        #expect(
            ending { try KeychainCommand.parsed(words) }
                == ending {
                    try KeychainCommand.parseAsRoot(ClipTime.completed(words))
                })
    }

    /// The text with which a command line ends, be it at once or when its command runs.
    private func ending(_ parse: () throws -> any ParsableCommand) -> String {
        do {
            var command = try parse()
            let type = type(of: command)
            // Such a command tells its help. Any other one would act on the keychain of the person who tests.
            if "\(type)" == "HelpCommand" || !type.configuration.subcommands.isEmpty { try command.run() }
            return "\(type)"
        } catch {
            return KeychainCommand.fullMessage(for: error)
        }
    }
}
