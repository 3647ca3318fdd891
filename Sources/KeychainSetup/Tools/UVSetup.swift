package enum UVSetup: ToolSetup {
    static let summary = "keyring-provider in uv.toml, and the command keyring in ~/.local/bin"
    static let usesKeyring = true

    private static let key = "keyring-provider"

    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan {
        var plan = SetupPlan()
        let path = try surroundings.variable("UV_CONFIG_FILE") ?? surroundings.configuration("uv/uv.toml")
        let file = try SetupFile(path)
        plan.change(file, try setting(try file.toml, file.path).map { .line($0) })
        try KeyringLink.plan(surroundings, into: &plan)
        return plan
    }

    /// nil: the setting is there. It has to stand before all tables.
    package static func setting(_ text: String, _ path: String) throws -> ConfigurationSetting? {
        let line = #"\#(key) = "subprocess""#
        let lines = ConfigurationLines(text)
        let present = lines.lines(with: key)
        guard present.allSatisfy({ $0.section.isEmpty && $0.sets(key) }), present.count < 2 else {
            throw SetupFailure(message: "\(path) sets \(key) in another way: put '\(line)' before the first table")
        }
        let value = present.first?.trimmed.dropFirst(key.count).drop { " \t=".contains($0) }
        if value?.hasPrefix(#""subprocess""#) == true { return nil }
        // The line may be a part of a string that has several lines.
        if !present.isEmpty && (text.contains("\"\"\"") || text.contains("'''")) {
            throw SetupFailure(message: "\(path) has a string of several lines: put '\(line)' before the first table")
        }
        return ConfigurationSetting(
            line, key: key, mark: "subprocess", in: "", of: lines, replacing: present.first.map { String($0.content) })
    }
}
