import DataProtection
import DataProtectionCore
import Foundation
import KeychainModel
import Testing

@testable import KeychainTool

@Suite struct ExitStatusTests {
    @Test(
        "A mistake on the command line ends with 64, says so, and makes no store",
        arguments: [
            ["frob"], ["add", "generic", "--service", "s"], ["add", "certificate"], ["get", "--service", "s"],
            ["get", ""],
            ["add", ""], ["add", "a", "--service", "s"], ["show"], ["rm"], ["rm", "a", "b"],
            ["get", "identity"], ["get", "generic", "--server", "h"], ["find", "internet", "--service", "s"],
            ["find", "--service", "s", "--server", "h"], ["find", "--accessible", "sometimes"],
            ["find", "--reference", "zzz"], ["update", "generic", "--set-server", "h"], ["delete"],
            ["update", "a", "--set-group", ""],
            ["add", "generic", "--service", "s", "--account", "a", "--group", ""], ["status", "--store", ""],
            ["passcode", "policy", "--idle-lock", "10"], ["passcode", "policy", "--erase-after-ten", "maybe"],
            ["passcode", "remove"], ["lock", "later"],
        ])
    func usage(arguments: [String]) throws {
        try withTool { (tool) throws in
            let outcome = try tool.shell("$K " + arguments.map { "'\($0)'" }.joined(separator: " "))
            #expect(outcome.status == 64)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("Usage: keychain"))
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test(
        "A mistake is told with what was probably meant",
        arguments: [
            ("ststus", "'keychainctl ststus': did you mean 'keychainctl status'?"),
            ("file protct x", "'keychainctl file protct': did you mean 'keychainctl file protect'?"),
            ("help nosuch", "'keychainctl nosuch': there are demo, status, "),
            ("find --limit 3", "Unknown option '--limit'"),
            ("get genric --service s", "'genric' is none of generic, internet, certificate, key, identity, and beside"),
            ("get genric mail.example", "'genric' before 'mail.example' is none of generic,"),
            ("add genric --service s --account a", "'genric' is no option, and beside --service"),
            ("get", "Name the item, or its class: generic,"),
        ])
    func advice(arguments: String, advice: String) throws {
        try withTool { (tool) throws in
            let outcome = try tool.shell("$K \(arguments)")
            #expect(outcome.status == 64)
            #expect(outcome.errors.contains(advice))
            #expect(outcome.errors.contains("Usage: keychainctl"))
        }
    }

    @Test(
        "What is not found is named with its values",
        arguments: [
            ("get generic --service a --account 'b c'", "no generic password matches service a, account b c"),
            (
                "find --server h --protocol https --port 1",
                "no internet password matches server h, protocol https, port 1"
            ),
            ("find --account a", "no item matches account a"),
            ("update internet --group g", "no internet password matches group g"),
            ("delete generic --label l", "no generic password matches label l"),
            ("get generic", "no generic password is there"),
        ])
    func namesWhatIsNotFound(arguments: String, message: String) throws {
        try withTool { (tool) throws in
            try tool.setPasscode()
            defer { tool.dropKeys() }
            let outcome = try tool.shell("$K \(arguments)")
            #expect(outcome.status == 44)
            #expect(outcome.errors == "keychainctl: \(message)\n")
        }
    }

    @Test("A file in the place of the store is no absent store, and is left as it is")
    func fileAsStore() throws {
        try withTool { (tool) throws in
            let path = try tool.file("file")
            for command in ["status", "find"] {
                let outcome = try tool.run(command, "--store", path)
                #expect(outcome.status == 53)
                #expect(outcome.errors.contains("is not a directory"))
            }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "content")
        }
    }

    @Test("Help tells of the completions, which are part of the command")
    func completionsAreNamed() throws {
        try withTool { (tool) throws in
            #expect(try tool.run("--help").text.contains("--generate-completion-script"))
        }
    }

    @Test(
        "What is not there ends with 44, and no store is made",
        arguments: [
            "find", "find --json", "get generic", "delete generic --all --yes", "update generic --set-label l", "lock",
            "passcode policy",
        ])
    func notFound(arguments: String) throws {
        try withTool { (tool) throws in
            let outcome = try tool.shell("$K \(arguments)")
            #expect(outcome.status == 44)
            let isJSON = arguments.contains("--json")
            #expect(outcome.text == (isJSON ? "[]\n" : ""))
            #expect(outcome.errors.hasPrefix(isJSON ? "{\"error\": {\"status\": 44," : "keychainctl: "))
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test("A duplicate ends with 45 and the first secret is kept")
    func duplicate() throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("first".utf8))
            let second = try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("second".utf8))
            #expect(second.status == 45)
            #expect(try tool.run("get", "generic", "--service", "s").text == "first")
        }
    }

    @Test("An item that needs a passcode ends with 51 as long as none is set")
    func noPasscode() throws {
        try withTool { (tool) throws in
            let outcome = try tool.run(
                "add", "generic", "--service", "s", "--account", "a", "--accessible", "when-passcode-set")
            #expect(outcome.status == 51)
        }
    }

    @Test("A store that cannot be opened ends with 53 and is left as it is")
    func foreignFile() throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a")
            let garbage = Data(repeating: 7, count: 5000)
            try garbage.write(to: tool.database)
            for command in ["find", "status", "get generic"] {
                #expect(try tool.shell("$K \(command)").status == 53, "\(command)")
            }
            #expect(try Data(contentsOf: tool.database) == garbage)
        }
    }

    @Test("A store that may not be looked at is never 'not found'", .enabled(if: geteuid() != 0))
    func noPermission() throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a")
            let parent = tool.store.deletingLastPathComponent().path
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: parent)
            defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: parent) }
            let found = try tool.run("find")
            #expect(found.status == 53 && found.errors.contains("cannot open"), "\(found.errors)")
        }
    }

    @Test("A database that may not be written is no read-only file system", .enabled(if: geteuid() != 0))
    func readOnlyFile() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: tool.database.path)
            let outcome = try tool.add("b")
            #expect(outcome.status == 52)
            #expect(outcome.errors.contains("its file system or its files are read-only"))
        }
    }

    @Test("The status is the low byte of the OSStatus")
    func lowByte() {
        #expect(ExitStatus.of(.itemNotFound) == 44)
        #expect(ExitStatus.of(.duplicateItem) == 45)
        #expect(ExitStatus.of(.interactionNotAllowed) == 36)
        #expect(ExitStatus.of(.missingEntitlement) == 30)
        #expect(ExitStatus.of(.authenticationFailed) == 51)
        #expect(ExitStatus.of(.parameter) == 206)
        #expect(ExitStatus.of(.notAvailable) == 53)
        #expect(ExitStatus.of(.noPasscode) == 84)
    }

    @Test("Help and version go to standard output and end with 0", arguments: ["--help", "--version", "add --help"])
    func help(arguments: String) throws {
        try withTool { (tool) throws in
            let outcome = try tool.shell("$K \(arguments)")
            #expect(outcome.status == 0)
            #expect(!outcome.output.isEmpty)
        }
    }

    @Test("Completion scripts offer the names of the protection classes", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
        try withTool { (tool) throws in
            let outcome = try tool.run("--generate-completion-script", shell)
            #expect(outcome.status == 0)
            #expect(outcome.text.contains("after-first-unlock-this-device-only"))
            for protection in FileProtection.allCases { #expect(outcome.text.contains(protection.name)) }
            for verb in ["protect", "unprotect", "class", "cat", "write", "info"] {
                #expect(outcome.text.contains("file_\(verb)") || outcome.text.contains("file \(verb)"), "\(verb)")
            }
        }
    }
}
