internal import ArgumentParser

/// The commands that the first arguments name.
enum CommandNames {
    /// - Throws: if one is none, with the one that was probably meant.
    static func requireKnown(_ arguments: some Collection<String>) throws(ValidationError) {
        var command: any ParsableCommand.Type = KeychainCommand.self
        var path = "keychainctl"
        for name in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let commands = command.configuration.subcommands
            if commands.isEmpty || name.hasPrefix("-") { return }
            let names = commands.compactMap { $0.configuration.commandName }
            guard let place = names.firstIndex(of: name) else {
                let advice =
                    nearest(to: name, names).map { "did you mean '\(path) \($0)'?" }
                    ?? "there are \(names.joined(separator: ", "))."
                throw ValidationError("There is no command '\(path) \(name)': \(advice)")
            }
            command = commands[place]
            path += " " + name
        }
    }

    /// nil: nothing is near enough.
    private static func nearest(to name: String, _ names: [String]) -> String? {
        func distance(_ other: String) -> Int { Array(name).difference(from: Array(other)).count }
        return names.filter { distance($0) <= 2 }.min { distance($0) < distance($1) }
    }
}
