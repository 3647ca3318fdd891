/// The command line of Python's `keyring`, as far as pip, uv and people use it. Options may stand anywhere.
package struct KeyringCommandLine: Equatable {
    package enum Operation: String { case get, set, del, diagnose }

    package var operation: Operation
    package var service = ""
    package var username: String?
    /// `--mode creds`: user name and password, rather than the password alone.
    package var wantsUsername = false
    /// `--output json`
    package var isJSON = false

    package init(_ arguments: [String]) throws(HelperFailure) {
        var words: [String] = []
        var options: [String: String] = [:]
        var rest = arguments[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("-") else {
                words.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                throw HelperFailure("the option \(word) has no value")
            }
            options[parts[0]] = value
        }
        guard let operation = words.first.flatMap({ Operation(rawValue: $0) }) else {
            throw HelperFailure("the command is get, set, del or diagnose")
        }
        self.operation = operation
        wantsUsername = try Self.choice(&options, "--mode", "password", "creds")
        isJSON = try Self.choice(&options, "--output", "plain", "json")
        if let unknown = options.keys.sorted().first { throw HelperFailure("there is no option \(unknown) here") }
        if operation == .diagnose { return }
        let needsUsername = operation != .get || !wantsUsername
        guard words.count == 3 || (words.count == 2 && !needsUsername) else {
            throw HelperFailure("\(operation.rawValue) takes a service and a user name")
        }
        service = words[1]
        username = words.count == 3 ? words[2] : nil
    }

    /// Whether an option has its second value. The first one is the default.
    private static func choice(
        _ options: inout [String: String], _ name: String, _ first: String, _ second: String
    ) throws(HelperFailure) -> Bool {
        let value = options.removeValue(forKey: name) ?? first
        guard value == first || value == second else { throw HelperFailure("\(name) is \(first) or \(second)") }
        return value == second
    }
}
