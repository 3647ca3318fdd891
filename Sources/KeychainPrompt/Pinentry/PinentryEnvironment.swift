/// The variables that a dialog needs: where to draw, in which language, and how it is to look. No variable names
/// libraries to load, and none is the asking program's own. The user's settings may name a module for a toolkit to
/// load: that is the user's choice.
enum PinentryEnvironment {
    private static let names: Set = [
        "WAYLAND_DISPLAY", "DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS",
        "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
        "XDG_DATA_DIRS",
        "HOME", "PATH", "USER", "LOGNAME",
        "TERM", "TERMINFO", "GPG_TTY", "LANG", "LANGUAGE",
        "GDK_BACKEND", "GDK_SCALE", "GDK_DPI_SCALE", "GTK_THEME", "GTK_IM_MODULE", "XMODIFIERS",
        "QT_QPA_PLATFORM", "QT_QPA_PLATFORMTHEME", "QT_STYLE_OVERRIDE", "QT_SCALE_FACTOR", "QT_IM_MODULE",
        "XCURSOR_THEME", "XCURSOR_SIZE",
    ]

    static func variables(_ configuration: PromptConfiguration) -> [String: String] {
        var variables = configuration.variables.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") }
        // Without one the answer would be taken for ASCII.
        if configuration.characterLocale == nil { variables["LC_CTYPE"] = "C.UTF-8" }
        return variables
    }

    /// The options that the program is told in the protocol besides: without a terminal's name it would use its
    /// standard input.
    static func options(_ configuration: PromptConfiguration, terminal: String?) -> [String] {
        let values = [
            ("ttyname", terminal),
            ("ttytype", terminal == nil ? nil : configuration.variable("TERM")),
            ("lc-ctype", configuration.characterLocale ?? "C.UTF-8"),
            ("lc-messages", configuration.messageLocale),
        ]
        // With the keyboard grabbed, a dialog that opens from a menu, which has it grabbed itself, comes back as declined.
        return ["no-grab"] + values.compactMap { name, value in value.filter(isPlain).map { "\(name)=\($0)" } }
    }

    private static func isPlain(_ value: String) -> Bool {
        value.utf8.count <= 200 && value.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "%") }
    }
}

extension Optional {
    fileprivate func filter(_ isMeant: (Wrapped) -> Bool) -> Wrapped? { flatMap { isMeant($0) ? $0 : nil } }
}
