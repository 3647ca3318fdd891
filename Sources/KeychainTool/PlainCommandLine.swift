internal import ArgumentParser
internal import KeychainModel

/// The plain forms of the commands that scripts run many times: a class or a name, and options with one value each, and
/// `--version`.
///
/// ArgumentParser finds the options by reflection, which takes 2 ms of a `get`
/// (docs/decisions/032-what-a-look-up-costs.md). It still reads every unusual line, and so tells of mistakes.
enum PlainCommandLine {
    /// nil: the line is for ArgumentParser.
    static func command(_ arguments: some Collection<String>) -> (any ParsableCommand)? {
        var words = Array(arguments)
        switch words.first {
        case "--version" where words.count == 1: return VersionCommand()
        case "get": return PlainWords(words.dropFirst()).flatMap { GetCommand($0) }
        case "find", "ls": return PlainWords(words.dropFirst()).flatMap { FindCommand($0) }
        case "add" where words.count > 1 && CommandNames.isPassword(words[1]):
            words.removeFirst(words[1] == ItemClass.genericPassword.name ? 2 : 1)
            return PlainWords(words[...]).flatMap { AddGenericCommand($0) }
        default: return nil
        }
    }
}

/// ArgumentParser collects the options of the root twice before it answers.
private struct VersionCommand: ParsableCommand {
    func run() throws { try Console.write(Release.version + "\n") }
}

/// Words of a command line: options with their values, flags, and at most one word by itself.
private struct PlainWords {
    private static let flags: Set = ["--json", "--ask", "--no-interaction", "--update", "--allow-empty", "--generate"]

    private var values: [String: String] = [:]
    private var flags: Set<String> = []
    private var word: String?

    /// nil: an option has no value or comes twice, or a word may mean something else.
    init?(_ words: some Collection<String>) {
        var rest = words[...]
        while let name = rest.popFirst() {
            guard name.hasPrefix("--") else {
                guard word == nil, Self.isValue(name) else { return nil }
                word = name
                continue
            }
            if Self.flags.contains(name) {
                guard flags.insert(name).inserted else { return nil }
            } else {
                guard name.count > 2, !name.contains("="), let value = rest.popFirst(), Self.isValue(value),
                    values.updateValue(value, forKey: name) == nil
                else { return nil }
            }
        }
    }

    private static func isValue(_ word: String) -> Bool { !word.isEmpty && word.utf8.first != UInt8(ascii: "-") }

    mutating func take(_ option: String) -> String? { values.removeValue(forKey: option) }
    mutating func takeFlag(_ flag: String) -> Bool { flags.remove(flag) != nil }

    mutating func takeWord() -> String? {
        defer { word = nil }
        return word
    }

    /// Whether all words were taken.
    var isEmpty: Bool { values.isEmpty && flags.isEmpty && word == nil }
}

extension StoreOptions {
    fileprivate init(_ words: inout PlainWords) {
        self.init()
        storeDirectory = words.take("--store")
        deviceKeyDirectory = words.take("--device-key")
        owner = nil
    }
}

extension AuthenticationOptions {
    fileprivate init(_ words: inout PlainWords) {
        self.init()
        noInteraction = words.takeFlag("--no-interaction")
    }
}

extension ItemFilter {
    /// nil: the filter is not valid.
    fileprivate init?(_ words: inout PlainWords) {
        // Options whose values may be wrong stay in `words`, and make the line an unusual one.
        self.init(words.takeWord())
        (service, account, server) = (words.take("--service"), words.take("--account"), words.take("--server"))
        (path, label, comment) = (words.take("--path"), words.take("--label"), words.take("--comment"))
        (kindInWords, group) = (words.take("--description"), words.take("--group"))
        (reference, tag) = (words.take("--reference"), words.take("--tag"))
        guard (try? validate()) != nil else { return nil }
    }
}

extension GetCommand {
    fileprivate init?(_ words: PlainWords) {
        var words = words
        self.init()
        store = StoreOptions(&words)
        authentication = AuthenticationOptions(&words)
        (format, isPublic, clip, json) = (.raw, false, .none, words.takeFlag("--json"))
        passphrase = PassphraseOptions()
        passphrase.passphraseFile = nil
        guard let chosen = ItemFilter(&words), words.isEmpty else { return nil }
        filter = chosen
        guard (try? validate()) != nil else { return nil }
    }
}

extension FindCommand {
    fileprivate init?(_ words: PlainWords) {
        var words = words
        self.init()
        store = StoreOptions(&words)
        expiring = nil
        (ask, json) = (words.takeFlag("--ask"), words.takeFlag("--json"))
        guard let chosen = ItemFilter(&words), words.isEmpty else { return nil }
        filter = chosen
    }
}

extension AddGenericCommand {
    fileprivate init?(_ words: PlainWords) {
        var words = words
        self.init()
        (store, name) = (StoreOptions(&words), words.takeWord())
        (service, account) = (words.take("--service"), words.take("--account"))
        password = NewPassword(&words)
        guard words.isEmpty, (try? validate()) != nil, (try? password.validate()) != nil else { return nil }
    }
}

extension NewPassword {
    fileprivate init(_ words: inout PlainWords) {
        self.init()
        (label, comment, kindInWords) = (words.take("--label"), words.take("--comment"), words.take("--description"))
        group = words.take("--group")
        (protection, sync, expires) = (ItemProtection(), false, nil)
        (protection.accessible, protection.require, protection.either) = (nil, [], false)
        authentication = AuthenticationOptions(&words)
        update = words.takeFlag("--update")
        json = words.takeFlag("--json")
        source = NewSecret(&words)
    }
}

extension NewSecret {
    fileprivate init(_ words: inout PlainWords) {
        self.init()
        (generate, password, totp) = (words.takeFlag("--generate"), .usual, false)
        allowEmpty = words.takeFlag("--allow-empty")
    }
}
