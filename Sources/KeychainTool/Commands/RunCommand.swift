internal import ArgumentParser
internal import KeychainModel
internal import KeychainRun

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a command with secrets in its environment.",
        usage: "keychainctl run [<options>] [-- <command> ...]",
        discussion: """
            Variables with references, such as keychain://generic/SERVICE/ACCOUNT, have the secret of that item in the \
            command. References are looked for in the environment, in a project's keychain.toml and in the env files; of \
            these the later ones count. A file that others may have written, in a repository for example, counts when it is \
            allowed: a person at a terminal is asked once, a script says --allow. If one secret is missing, nothing is started. \
            The exit status is the command's; 127 if there is no such command and 126 if it cannot be started.

            In output to files and pipes secrets are masked. That is against accidents, and keeps no secret from anybody.

            Examples:
              API_TOKEN=keychain://generic/api.example.com/ada keychainctl run -- ./deploy
              keychainctl run --netrc --machine git.example.com -- sh -c 'curl --netrc-file "$NETRC" https://git.example.com/'
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var errors: JSONErrors
    @Option(
        name: .customLong("env-file"),
        help: ArgumentHelp("A file of NAME=value lines. May be given several times.", valueName: "file"),
        completion: .file())
    var environmentFiles: [String] = []
    @Option(help: ArgumentHelp("Look up this variable alone. May be given several times.", valueName: "name"))
    var only: [String] = []
    @Option(
        name: .customLong("file"),
        help: ArgumentHelp(
            "Give the command the path of a file in memory in this variable. May be given several times.",
            valueName: "name"))
    var files: [String] = []
    @Option(
        name: .customLong("stdin"),
        help: ArgumentHelp(
            "Give the command the secret of this variable on its standard input, and not in its environment.",
            valueName: "name"))
    var standardInput: String?
    @Flag(help: "Put internet passwords into a file in memory, in netrc's form; the variable NETRC has its path.")
    var netrc = false
    @Option(
        name: .customLong("machine"),
        help: ArgumentHelp("Of --netrc: only this server. May be given several times.", valueName: "server"))
    var machines: [String] = []
    @Flag(help: "Mask nothing. The command takes the place of keychainctl.") var noMasking = false
    @Flag(help: "Leave out a keychain.toml.") var noProject = false
    @Flag(help: "Let a keychain.toml and env files count as they are now, without 'keychainctl allow'; for scripts.")
    var allow = false
    @Flag(help: "Let the command leave core files, which have its secrets in them.") var cores = false
    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp(
            "--, the command and its arguments. Without them the command of keychain.toml.", valueName: "command"))
    var words: [String] = []

    /// The program's name and its arguments; empty: the person named none.
    var command: ArraySlice<String> { words.dropFirst() }

    func validate() throws {
        // ArgumentParser takes every word for one of the other program, even a --help in the first place.
        if words.first == "--help" || words.first == "-h" { throw CleanExit.helpRequest(self) }
        if let word = words.first, word != "--" {
            throw ValidationError(
                word.hasPrefix("-")
                    ? "There is no option \(word)." : "Put -- before the command: keychainctl run … -- \(word) …")
        }
        try NameKind.command.require(command.first)
        if !machines.isEmpty && !netrc { throw ValidationError("--machine goes with --netrc.") }
        if let standardInput, files.contains(standardInput) {
            throw ValidationError("--file and --stdin name the same variable.")
        }
    }

    func run() throws {
        let plan = try RunPlan(self)
        var secrets: [SecretBytes] = []
        let program = try plan.prepare(&secrets)
        guard !noMasking,
            let masked = try MaskedRun(secrets, note: { Console.note($0) }, complain: { Console.complain($0) })
        else { try program.replaceThis() }
        secrets = []
        throw ExitCode(try masked.run(program, whenStarted: plan.releaseFiles).repeatHere())
    }
}
