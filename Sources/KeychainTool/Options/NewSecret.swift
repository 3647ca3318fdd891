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

/// The form of a generated password.
struct PasswordOptions: ParsableArguments {
    private static let wordCounts = 3...64

    @Option(help: ArgumentHelp("The number of characters (default: 20).", valueName: "number")) var length: Int?
    @Option(
        help: ArgumentHelp(
            "The classes of characters, each of which it has: lower,upper,digits,symbols (default: all).",
            valueName: "classes"))
    var characters: CharacterClasses?
    @Option(help: ArgumentHelp("Characters that it does not have, such as 0O1lI.", valueName: "characters"))
    var exclude: String?
    @Option(help: ArgumentHelp("Words in place of characters, so many of them.", valueName: "number")) var words: Int?
    @Option(help: ArgumentHelp("What stands between words (default: -).", valueName: "text")) var separator: String?

    static var usual: PasswordOptions {
        var options = PasswordOptions()
        (options.length, options.characters, options.exclude) = (nil, nil, nil)
        (options.words, options.separator) = (nil, nil)
        return options
    }

    var isEmpty: Bool {
        length == nil && characters == nil && exclude == nil && words == nil && separator == nil
    }

    func validate() throws { _ = try recipe() }

    /// - Parameter otherLength: The length, if a command has another option for it.
    func recipe(length otherLength: Int? = nil) throws -> PasswordRecipe {
        if let words {
            guard length == nil, otherLength == nil, characters == nil, exclude == nil else {
                throw ValidationError("--words makes a password of words: only --separator goes with it.")
            }
            guard Self.wordCounts.contains(words) else { throw ValidationError("--words is from 3 to 64.") }
            return .words(count: words, separator: separator ?? "-")
        }
        if separator != nil { throw ValidationError("--separator is for --words.") }
        let count = otherLength ?? length ?? RandomPassword.usualLength
        guard RandomPassword.lengths.contains(count) else {
            throw ValidationError("The length is from 4 to 1024 characters.")
        }
        let classes = (characters ?? .all).classes.map { characterClass in
            characterClass.characters.filter { exclude?.utf8.contains($0) != true }
        }
        if let place = classes.firstIndex(where: \.isEmpty) {
            let name = (characters ?? .all).classes[place].rawValue
            throw ValidationError("--exclude leaves nothing of the class \(name): leave it out of --characters.")
        }
        guard classes.joined().count > 1 else { throw ValidationError("One character alone makes no password.") }
        return .characters(count: count, classes: classes)
    }
}

/// The classes in a list such as "lower,digits".
struct CharacterClasses: ExpressibleByArgument {
    static let all = CharacterClasses(CharacterClass.allCases)

    let classes: [CharacterClass]

    private init(_ classes: [CharacterClass]) { self.classes = classes }

    init?(argument: String) {
        let named = argument.split(separator: ",", omittingEmptySubsequences: false).map {
            CharacterClass(rawValue: String($0))
        }
        let known = named.compactMap(\.self)
        guard known.count == named.count, Set(known).count == known.count else { return nil }
        classes = known
    }

    static var defaultCompletionKind: CompletionKind {
        .list(["lower,upper,digits", "lower,digits", "digits", "lower,upper,digits,symbols"])
    }
}
