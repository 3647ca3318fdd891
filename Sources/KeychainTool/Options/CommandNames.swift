internal import ArgumentParser
internal import KeychainModel

/// The commands that the first arguments name.
enum CommandNames {
    /// - Returns: The command that the first arguments name, as far as they name one, and the words that follow.
    /// - Throws: if an argument is no command. The message names the one that was probably meant.
    static func command(
        of arguments: some Collection<String>
    ) throws(ValidationError) -> (command: any ParsableCommand.Type, words: [String]) {
        try requireNoLetters(arguments.prefix { $0 != "--" }.map(\.self))
        var command: any ParsableCommand.Type = KeychainCommand.self
        var path = "keychainctl"
        let isHelp = arguments.first == "help"
        var words = Array(isHelp ? arguments.dropFirst() : arguments[...])
        while let name = words.first {
            let commands = command.configuration.subcommands
            if commands.isEmpty || name.hasPrefix("-") { break }
            let place = commands.firstIndex {
                $0.configuration.commandName == name || $0.configuration.aliases.contains(name)
            }
            guard let place else {
                if command == AddCommand.self && isPassword(name) {
                    command = AddGenericCommand.self
                    break
                }
                let names = commands.compactMap {
                    $0.configuration.shouldDisplay ? $0.configuration.commandName : nil
                }
                let advice =
                    nearest(to: name, names).map { "did you mean '\(path) \($0)'?" }
                    ?? "there are \(names.joined(separator: ", "))."
                throw ValidationError("There is no command '\(path) \(name)': \(advice)")
            }
            command = commands[place]
            path += " " + name
            words.removeFirst()
        }
        return isHelp ? (KeychainCommand.self, Array(arguments)) : (command, words)
    }

    /// Options of one letter cannot be joined: -dash is a name, and no wish for the help of -h.
    private static func requireNoLetters(_ words: [String]) throws(ValidationError) {
        guard let word = words.first(where: { $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.utf8.count > 2 }) else {
            return
        }
        throw ValidationError(
            "There is no option \(word). A name that begins with - stands behind --: keychainctl … -- \(word)")
    }

    /// Whether `add` stores a generic password if this word, its class or an item's name, follows.
    static func isPassword(_ word: String) -> Bool {
        if word == ItemClass.genericPassword.name { return true }
        // The name of another class is a command of `add` or a mistake, and not the name of an item.
        return !word.hasPrefix("-") && ItemClass(argument: word) == nil
    }

    /// nil: no name is near enough.
    private static func nearest(to name: String, _ names: [String]) -> String? {
        func distance(_ other: String) -> Int { Array(name).difference(from: Array(other)).count }
        return names.filter { distance($0) <= 2 }.min { distance($0) < distance($1) }
    }
}
