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
        plan.change(file, try edit(try file.text, file.path))
        try KeyringLink.plan(surroundings, into: &plan)
        return plan
    }

    private static func path(_ surroundings: SetupSurroundings) throws -> String {
        if let path = surroundings.variable("PIP_CONFIG_FILE") { return path }
        // An older place, whose settings count more.
        let older = try surroundings.home(".pip/pip.conf")
        return access(older, F_OK) == 0 ? older : try surroundings.configuration("pip/pip.conf")
    }

    /// nil: the setting is there.
    static func edit(_ text: String, _ path: String) throws -> TextEdit? {
        let setting = "\(key) = subprocess"
        let lines = ConfigurationLines(text)
        let present = lines.lines(with: key) + lines.lines(with: "keyring_provider")
        guard let line = present.first else { return lines.adding(setting, to: section) }
        // pip has a section for each of its commands too.
        guard present.count == 1, line.section == section, line.trimmed.hasPrefix(key) else {
            throw ToolFailure(message: "\(path) sets \(key) in another way: put '\(setting)' under [\(section)]")
        }
        let value = line.trimmed.dropFirst(key.count).drop { " \t=:".contains($0) }
        if value == "subprocess" { return nil }
        return TextEdit(offset: line.offset, removing: line.text, inserting: setting + "\n")
    }
}
