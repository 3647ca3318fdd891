internal import KeychainModel

/// A word of a command that a person is advised to run.
enum ShellWord {
    /// A command's last argument, which is no option even if it begins with a dash.
    static func argument(_ word: String) -> String { (word.hasPrefix("-") ? "-- " : "") + quoted(word) }

    /// The word as a shell reads it, in quotes if it needs them. It has no backslash, which messages would double.
    static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { $0 >= 0x80 || $0.isLetterOrDigit || "-_./:@%+,".utf8.contains($0) }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: #"'"'"'"#) + "'"
    }
}
