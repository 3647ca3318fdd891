internal import FoundationEssentials
internal import KeychainSystem

/// The surroundings of prompters, and how long they wait.
package struct PromptConfiguration: Sendable {
    package struct Limits: Sendable {
        /// How long a person has for an answer.
        package var answer = Duration.seconds(120)
        /// The time for steps without a person: a desktop may be slow to start a program.
        package var reply = Duration.seconds(20)
        /// How long a program has to say that a person's time is over, before that is said for it.
        package var grace = Duration.seconds(10)
        /// How long a program has to end, before it is ended.
        package var end = Duration.seconds(1)
        /// How long an answer may be, in bytes.
        package var secretByteCount = 4096

        package init() {}
    }

    /// The environment, as far as it can be believed.
    package var variables: [String: String]
    /// The directories in which programs are looked for.
    package var directories: [String]
    package var terminal = "/dev/tty"
    package var limits = Limits()
    /// Whose turn it is; questions of one process share it.
    package var turn = PromptTurn.ofProcess

    /// - Parameters:
    ///   - variables: The environment.
    ///   - isSecure: Whether this program has rights that its caller lacks. Then it is not led to other programs than
    ///     the system's: the caller's choice of one does not count. Displays and terminals are the caller's anyway.
    package init(variables: [String: String], isSecure: Bool = false) {
        var variables = variables
        if isSecure {
            for name in ["KEYCHAIN_PINENTRY", "KEYCHAIN_PROMPT", "PATH", "GPG_TTY"] { variables[name] = nil }
        }
        self.variables = variables
        directories = SearchPath(variables["PATH"]).directories
    }

    package static var process: PromptConfiguration {
        PromptConfiguration(
            variables: ProcessInfo.processInfo.environment, isSecure: ckeychain_is_secure_execution() != 0)
    }

    /// The value of a variable that is not empty.
    func variable(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// Where a dialog may draw: the terminal that its user has named for that, else that of this process; nil: nowhere.
    var dialogTerminal: String? {
        let named = variable("GPG_TTY").flatMap { $0.hasPrefix("/") ? $0 : nil }
        return [named, terminal].compactMap(\.self).first(where: TerminalDevice.isUsable)
    }

    var hasDisplay: Bool { variable("WAYLAND_DISPLAY") != nil || variable("DISPLAY") != nil }

    /// The locale of characters (locale(7)).
    var characterLocale: String? { variable("LC_ALL") ?? variable("LC_CTYPE") ?? variable("LANG") }

    var messageLocale: String? { variable("LC_ALL") ?? variable("LC_MESSAGES") ?? variable("LANG") }
}
