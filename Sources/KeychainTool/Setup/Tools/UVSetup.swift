internal import Foundation
internal import KeychainSystem

enum UVSetup: ToolSetup {
    static let name = "uv"
    static let summary = "keyring-provider in uv.toml, and the command keyring in ~/.local/bin"
    static let usesKeyring = true

    private static let key = "keyring-provider"

    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan {
        var plan = SetupPlan()
        let path = try surroundings.variable("UV_CONFIG_FILE") ?? surroundings.configuration("uv/uv.toml")
        let file = try SetupFile(path)
        plan.change(file, try edit(try file.text, file.path))
        try KeyringLink.plan(surroundings, into: &plan)
        return plan
    }

    /// nil: the setting is there. It has to stand before every table.
    static func edit(_ text: String, _ path: String) throws -> TextEdit? {
        let setting = #"\#(key) = "subprocess""#
        let lines = ConfigurationLines(text)
        let present = lines.lines(with: key)
        guard let line = present.first else { return lines.adding(setting, to: "") }
        let value = line.trimmed.dropFirst(key.count).drop { " \t=".contains($0) }
        if present.count == 1, line.section.isEmpty, line.trimmed.hasPrefix(key) {
            if value.hasPrefix(#""subprocess""#) { return nil }
            return TextEdit(offset: line.offset, removing: line.text, inserting: setting + "\n")
        }
        throw ToolFailure(message: "\(path) sets \(key) in another way: put '\(setting)' before the first table")
    }
}
