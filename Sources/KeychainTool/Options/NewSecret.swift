internal import ArgumentParser
internal import KeychainModel

/// The source of a new secret: standard input, a prompt, or a recipe.
struct NewSecret: ParsableArguments {
    @Flag(help: "Make the password: no secret is read, and none is shown.") var generate = false
    @OptionGroup(title: "Options of --generate") var password: PasswordOptions
    @Flag(help: "The secret is a key for one-time codes, which 'keychainctl totp' makes: an otpauth:// URI, or base32.")
    var totp = false
    @Flag(help: "Take an empty secret, too.") var allowEmpty = false

    var asks: Bool { !generate && SecretInput.isTerminal }

    func validate() throws {
        if !generate && !password.isEmpty { throw ValidationError("These options are for --generate.") }
        if generate && totp {
            throw ValidationError("A site makes the key for its one-time codes: leave out --generate.")
        }
    }

    func read(prompt: String) throws -> SecretBytes {
        if generate {
            var generator = SystemRandomNumberGenerator()
            return try password.recipe().make(using: &generator)
        }
        let secret = try SecretInput.read(prompt: prompt, allowsEmpty: allowEmpty)
        if totp { _ = try OneTimeItem.key(secret) }
        return secret
    }

    func noteIfGenerated() throws {
        guard generate, Console.errorIsTerminal else { return }
        Console.note("note: a password was generated: \(try password.recipe().inWords); 'keychainctl get' shows it")
    }
}
