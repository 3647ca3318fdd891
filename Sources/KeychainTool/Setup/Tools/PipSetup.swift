internal import Foundation
internal import KeychainSystem

enum PipSetup: ToolSetup {
    static let name = "pip"
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

    /// Whether the line would stand in a value of several lines, or begin one: those are indented.
    private static func isWithinValue(_ lines: ConfigurationLines, _ present: ConfigurationLines.Line?) -> Bool {
        guard let place = present ?? lines.header(of: section) else { return false }
        return place.isIndented || lines.isContinued(place) || lines.lines.contains { $0.isHeader && $0.isIndented }
    }

    /// nil: the setting is there.
    private static func setting(_ text: String, _ path: String) throws -> ConfigurationSetting? {
        let line = "\(key) = subprocess"
        let lines = ConfigurationLines(text)
        if let flaw = lines.flaw {
            throw ToolFailure(message: "\(path) is no file that pip reads, because of line \(flaw): mend it first")
        }
        let present = lines.lines(with: key) + lines.lines(with: "keyring_provider")
        // pip has a section for each of its commands too.
        guard present.allSatisfy({ $0.section == section && $0.sets(key) }), present.count < 2,
            !lines.mayHaveOther(section), !isWithinValue(lines, present.first)
        else {
            throw ToolFailure(message: "\(path) sets \(key) in another way: put '\(line)' under [\(section)]")
        }
        let value = present.first?.trimmed.dropFirst(key.count).drop { " \t=:".contains($0) }
        if value == "subprocess" { return nil }
        return ConfigurationSetting(
            line, key: key, mark: "subprocess", in: section, of: lines,
            replacing: present.first.map { String($0.content) })
    }
}
