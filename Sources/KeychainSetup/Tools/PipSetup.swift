internal import FoundationEssentials

package enum PipSetup: ToolSetup {
    static let summary = "keyring-provider in pip.conf, and the command keyring in ~/.local/bin"
    static let usesKeyring = true

    private static let key = "keyring-provider"
    private static let section = "global"

    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan {
        var plan = SetupPlan()
        let file = try SetupFile(try path(surroundings))
        plan.change(file, try setting(try file.text, file.path).map { .line($0) })
        try KeyringLink.plan(surroundings, into: &plan)
        return plan
    }

    /// The file that 'pip config set' writes to. Its settings count more than those of the older ~/.pip/pip.conf.
    private static func path(_ surroundings: SetupSurroundings) throws -> String {
        try surroundings.variable("PIP_CONFIG_FILE") ?? surroundings.configuration("pip/pip.conf")
    }

    /// nil: the setting is there.
    package static func setting(_ text: String, _ path: String) throws -> ConfigurationSetting? {
        let line = "\(key) = subprocess"
        let (lines, file) = (ConfigurationLines(text), try naming(path) { try INIText(text) })
        // pip takes both spellings of the key for one, and has a section for each of its commands too.
        let set = file.options.filter { $0.key.replacing("_", with: "-") == key }
        let present = lines.lines(with: key) + lines.lines(with: "keyring_provider")
        guard present.allSatisfy({ $0.section == section && $0.sets(key) }), present.count < 2,
            set.count == present.count
        else {
            throw SetupFailure(message: "\(path) sets \(key) in another way: put '\(line)' under [\(section)]")
        }
        if set.first?.value == "subprocess" { return nil }
        // An option with a deeper indent than the one before it would be a part of that one's value.
        let indent = present.first?.indent ?? file.indents[section] ?? ""
        let setting = ConfigurationSetting(
            indent + line, key: key, mark: "subprocess", in: section, of: lines,
            replacing: present.first.map { String($0.content) }, isINI: true)
        _ = try naming(path, ": put '\(line)' under [\(section)]") { try setting.applied(to: Data(text.utf8)) }
        return setting
    }

    /// Does `body`, whose failures are ends of sentences that begin with the file.
    private static func naming<R>(_ path: String, _ advice: String = "", _ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as SetupFailure {
            throw SetupFailure(message: "\(path) \(error.message)\(advice)")
        }
    }
}
