internal import KeychainSystem

package enum CargoSetup: ToolSetup {
    static let summary = "registry.global-credential-providers in cargo's config.toml"

    private static let helper = "cargo-credential-keychain"
    private static let key = "global-credential-providers"
    private static let section = "registry"

    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan {
        let program = try surroundings.helper(helper)
        let isFound = surroundings.program(helper).map(surroundings.isHelper) ?? false
        let directory = try surroundings.variable("CARGO_HOME") ?? surroundings.home(".cargo")
        // The name without an ending is older, and counts if both are there.
        let older = FilePath.join(directory, "config")
        let file = try SetupFile(FilePath.exists(older) ? older : older + ".toml")
        var plan = SetupPlan()
        let setting = try setting(try file.toml, provider: isFound ? helper : program, file.path)
        plan.change(file, setting.map { .line($0) })
        let stored = FilePath.join(directory, "credentials.toml")
        if FilePath.exists(stored) {
            plan.notes.append(
                "\(stored) has tokens in plain text: 'cargo login' stores them in the keychain; remove the file then")
        }
        return plan
    }

    /// nil: the provider is there. Later providers are asked first.
    package static func setting(
        _ text: String, provider: String, _ path: String
    ) throws -> ConfigurationSetting? {
        let refused = SetupFailure(
            message: "\(path) is written in a way that this command does not change: under [\(section)], put "
                + "\"\(provider)\" at the end of \(key)")
        guard !provider.contains(where: { "\"\\ ".contains($0) }), !text.contains("\"\"\""), !text.contains("'''")
        else {
            throw refused
        }
        let lines = ConfigurationLines(text)
        // The table may be written in other ways, beside which a header would be a second table.
        let others = lines.lines.contains { line in
            let start = line.trimmed.drop { "\"'".contains($0) }
            guard line.section.isEmpty, start.hasPrefix(section) else { return false }
            return start.dropFirst(section.count).drop { " \t\"'".contains($0) }.first.map { "=.".contains($0) }
                ?? false
        }
        let present = lines.lines(with: key)
        guard !others, present.count < 2, !lines.mayHaveOther(section) else { throw refused }
        guard let line = present.first else {
            return ConfigurationSetting(
                #"\#(key) = ["cargo:token", "\#(provider)"]"#, key: key, mark: helper, in: section, of: lines,
                replacing: nil)
        }
        guard line.section == section, line.sets(key), let list = TOMLList(String(line.content)) else { throw refused }
        if list.elements.contains(where: { FilePath.name(of: $0) == helper }) { return nil }
        let comma = list.elements.isEmpty || list.endsWithComma ? "" : ", "
        let end = line.content.utf8.index(line.content.startIndex, offsetBy: list.end)
        let longer = #"\#(line.content[..<end])\#(comma)"\#(provider)"\#(line.content[end...])"#
        return ConfigurationSetting(
            longer, key: key, mark: helper, in: section, of: lines, replacing: String(line.content))
    }
}

/// `key = ["a", "b"]` in one line, with strings that have no escapes.
private struct TOMLList {
    var elements: [String] = []
    var endsWithComma = false
    /// The place behind the last element, or its comma, in bytes.
    var end = 0

    /// nil: the line is something else.
    init?(_ line: String) {
        let bytes = Array(line.utf8)
        guard let start = bytes.firstIndex(of: UInt8(ascii: "[")),
            bytes[..<start].filter({ $0 == UInt8(ascii: "=") }).count == 1
        else { return nil }
        end = start + 1
        var place = end
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "]"): return
            case UInt8(ascii: " "), UInt8(ascii: "\t"): place += 1
            case UInt8(ascii: ",") where !elements.isEmpty && !endsWithComma:
                (endsWithComma, place) = (true, place + 1)
                end = place
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let quote = bytes[place]
                guard elements.isEmpty || endsWithComma, let last = bytes[(place + 1)...].firstIndex(of: quote),
                    !bytes[place..<last].contains(UInt8(ascii: "\\"))
                else { return nil }
                elements.append(String(decoding: bytes[(place + 1)..<last], as: UTF8.self))
                (endsWithComma, place) = (false, last + 1)
                end = place
            default: return nil
            }
        }
        return nil
    }
}
