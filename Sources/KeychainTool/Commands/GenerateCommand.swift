internal import ArgumentParser

struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Make a password and write it to standard output; nothing is stored.",
        discussion: """
            On a terminal a line feed follows, and a note says how many bits of entropy it has. 'keychainctl add NAME \
            --generate' stores one without showing it.

            Examples:
              keychainctl generate
              keychainctl generate 32 --characters lower,upper,digits
              keychainctl generate --words 6
            """)

    @Argument(help: "The number of characters.") var length: Int?
    @OptionGroup var options: PasswordOptions
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func validate() throws {
        if length != nil && options.length != nil { throw ValidationError("The length is given twice.") }
        _ = try options.recipe(length: length)
    }

    func run() throws {
        let recipe = try options.recipe(length: length)
        var generator = SystemRandomNumberGenerator()
        let password = recipe.make(using: &generator)
        if json {
            let report = JSONValue.object([("entropyBits", Int(recipe.entropy).json)])
            return try Console.write(report, adding: password, as: "password")
        }
        try Console.writeLine(password)
        if Console.outputIsTerminal { Console.note("note: \(recipe.inWords)") }
    }
}
