internal import KeychainSystem

/// The programs that may be there to ask with, in the order in which they are tried.
struct PinentryCandidates {
    /// The paths of programs that are there.
    let paths: [String]
    /// The places of the search, for a person to read.
    let search: String

    private static let graphical = ["pinentry", "pinentry-gnome3", "pinentry-qt", "pinentry-gtk-2", "pinentry-x11"]
    private static let textual = ["pinentry-curses", "pinentry-tty", "pinentry"]

    init(_ configuration: PromptConfiguration, hasTerminal: Bool) {
        var names: [String] = []
        if let chosen = configuration.variable("KEYCHAIN_PINENTRY") { names.append(chosen) }
        if configuration.hasDisplay { names += Self.graphical }
        if hasTerminal { names += Self.textual }
        names = names.enumerated().filter { !names[..<$0.offset].contains($0.element) }.map(\.element)
        paths = names.compactMap { Self.find($0, in: configuration.directories) }
        search = Self.describe(names, configuration, hasTerminal)
    }

    /// A path that is absolute, or a name in one of the directories. The working directory is never searched.
    private static func find(_ name: String, in directories: [String]) -> String? {
        if FilePath.isAbsolute(name) { return SearchPath.isProgram(name) ? name : nil }
        if name.contains("/") { return nil }
        return SearchPath(directories: directories).program(name)
    }

    private static func describe(
        _ names: [String], _ configuration: PromptConfiguration, _ hasTerminal: Bool
    ) -> String {
        let places = configuration.directories.joined(separator: ":")
        var text = names.isEmpty ? "" : "looked for \(names.joined(separator: ", ")) in \(places); "
        if !configuration.hasDisplay { text += "there is no display (WAYLAND_DISPLAY, DISPLAY); " }
        if !hasTerminal { text += "there is no terminal to ask at (\(configuration.terminal)); " }
        return text + "install pinentry-curses for terminals or pinentry-gnome3 for desktops, or name a program in "
            + "KEYCHAIN_PINENTRY"
    }
}
