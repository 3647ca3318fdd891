/// A word of a command that a person is advised to run.
enum ShellWord {
    /// A command's last argument, which is no option even if it begins with a dash.
    static func argument(_ word: String) -> String { (word.hasPrefix("-") ? "-- " : "") + quoted(word) }

    /// The word as a shell reads it, in quotes if it needs them. It has no backslash, which messages would double.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
                    true
                default: "-_./:@%+,".utf8.contains(byte)
                }
            }
        return isPlain ? word : "'" + word.replacing("'", with: #"'"'"'"#) + "'"
    }
}
