import ArgumentParser
import Testing

@testable import KeychainTool

/// What is read without ArgumentParser means what it means to it.
@Suite struct PlainCommandLineTests {
    @Test(
        "A plain line is read as ArgumentParser reads it",
        arguments: [
            "get generic", "get generic --service s", "get generic --account a --service s --group G --label L",
            "get internet --server h --path /p --comment c --description d", "get key", "get key --tag t",
            "find key --tag t", "get certificate --label x",
            "get --store /a --device-key /b generic --service s --no-interaction", "find", "find generic --json",
            "find --service s --ask", "find identity --label me --json --store /a", "find --server h",
            "add generic --service s --account a", "add generic --service s --account a --label l --comment c --json",
            "add generic --account a --description d --group G --update --allow-empty --service s --no-interaction",
            "add generic --service s --account a --store /x --device-key /y", "get mail.example", "find mail --json",
            "get mail.example --account a --group G --no-interaction", "ls", "ls --json", "ls mail", "get nothing",
            "add mail.example", "add mail.example --account a",
            "add mail.example --account a --label l --update --generate", "get generic --json",
            "get mail.example --json",
            "add generic mail.example --account a --json",
        ])
    func same(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let plain = try #require(PlainCommandLine.command(words), "it is no plain line")
        let parsed = try KeychainCommand.parseAsRoot(words)
        #expect(type(of: plain) == type(of: parsed))
        #expect(parsedValues(of: plain) == parsedValues(of: parsed))
        #expect(!parsedValues(of: plain).isEmpty)
    }

    @Test(
        "A line that is unusual in any way is left to ArgumentParser",
        arguments: [
            "", "status", "get --help", "get", "get generic --service", "get generic --service=s", "get generic -h",
            "get generic --service -s", "get generic --service s --service t", "get generic internet",
            "get identity", "get generic --server h", "get generic --sync yes", "get generic --port 1",
            "get -- generic", "get generic --reference x", "get key --tag t --format pem",
            "get key --public", "get generic --tag t",
            "find key --application-label AAAA", "get generic --store",
            "find --protocol https", "find --accessible always", "find generic extra",
            "add internet --server h --account a", "add",
            "add generic --service s", "add generic --service s --account a --require passcode",
            "add generic --service s --account a extra", "add one two", "add --account a mail.example", "get x --clip",
            "get one two", "get key one", "get x --service s",
            "add certificate", "add identity --account a", "add --service s", "rm mail.example",
            "add generic --service s --account a --sync",
            "add generic --service s --account a --accessible always", "get generic --no-interaction --no-interaction",
            "--version get", "--version --json",
        ])
    func unusual(line: String) {
        #expect(PlainCommandLine.command(line.split(separator: " ").map(String.init)) == nil)
    }

    @Test("The version is told without ArgumentParser, in the words in which it would tell it")
    func version() throws {
        #expect(PlainCommandLine.command(["--version"]) != nil)
        let parsed = #expect(throws: (any Error).self) { try KeychainCommand.parseAsRoot(["--version"]) }
        try withTool { (tool) throws in
            let outcome = try tool.run("--version")
            #expect(outcome.status == 0)
            #expect(outcome.text == KeychainCommand.fullMessage(for: try #require(parsed)) + "\n")
        }
    }

    @Test("A line with an empty value is left to ArgumentParser", arguments: ["--service", "--group", "--store"])
    func empty(option: String) {
        #expect(PlainCommandLine.command(["get", "generic", option, ""]) == nil)
    }
}
