internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The output of the command: results on standard output, everything else on standard error.
enum Console {
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether a script reads the output. Then errors and notes are lines of JSON.
    static let speaksJSON = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")

    static var outputHasColors: Bool { outputIsTerminal && wantsColors }
    static var errorHasColors: Bool { errorIsTerminal && wantsColors }

    /// Whether the person has not turned colours off (no-color.org).
    private static var wantsColors: Bool {
        func value(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
        return value("NO_COLOR").isEmpty && value("TERM") != "dumb"
    }

    static var errorWidth: Int { width(of: STDERR_FILENO) }
    static var outputWidth: Int { width(of: STDOUT_FILENO) }

    /// The columns of the terminal, or the greatest number if it does not say.
    private static func width(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return .max }
        return Int(size.ws_col)
    }

    /// - Throws: a ``ToolFailure``, without a message if the reader has gone, which is no mistake.
    static func write(_ text: String) throws(ToolFailure) {
        try check(write(text, to: STDOUT_FILENO))
    }

    /// Writes only the bytes of a secret, and makes no copy.
    static func write(_ secret: SecretBytes) throws(ToolFailure) {
        try check(secret.withUnsafeBytes { $0.write(to: STDOUT_FILENO) })
    }

    /// Writes a secret. At a terminal a line feed follows if the secret has none, so that the shell's next prompt gets
    /// a line of its own.
    static func writeLine(_ secret: SecretBytes) throws(ToolFailure) {
        try write(secret)
        if outputIsTerminal && !secret.endsLine { try write("\n") }
    }

    /// Writes a JSON object with one more member, which is a secret.
    static func write(_ object: JSONValue, adding secret: SecretBytes, as key: String) throws(ToolFailure) {
        let buffer = SecretBuffer()
        buffer.append(object.text.dropLast(2) + ",\n  \"\(key)\": ")  // without the closing line
        buffer.appendJSON(of: secret)
        buffer.append("\n}\n")
        try write(buffer.secret())
    }

    static func write(_ bytes: UnsafeRawBufferPointer) throws(ToolFailure) {
        try check(bytes.write(to: STDOUT_FILENO))
    }

    static func complain(_ message: String) {
        note(speaksJSON ? message : "keychainctl: " + message)
    }

    /// Writes a message for a person. It is one line, which is folded for a terminal.
    ///
    /// Names in it may come from items and files. So the message is escaped, and the folded lines are indented: no name
    /// looks like a message of this command.
    static func note(_ message: String) {
        if speaksJSON { return writeErrorLine(JSONValue.object([("note", .string(message))]).line) }
        writeError(TerminalText.fold(TerminalText.escape(message), indent: 2, width: errorWidth) + "\n")
    }

    /// Writes a message of ArgumentParser, which may have several lines. The arguments in it are escaped.
    static func complainOfUsage(_ message: String) {
        let arguments = CommandLine.arguments.flatMap { [$0[...]] + $0.split(separator: "=", maxSplits: 1) }
        let hostile = arguments.filter { $0.unicodeScalars.contains(where: TerminalText.isHidden) }
        let harmless = hostile.reduce(message) { $0.replacing($1, with: TerminalText.escape(String($1))) }
        for line in harmless.split(separator: "\n", omittingEmptySubsequences: false) {
            writeError(TerminalText.fold(String(line), indent: 2, width: errorWidth) + "\n")
        }
    }

    /// Writes a question. The answer goes on the same line.
    static func ask(_ question: String) { writeToPerson(TerminalText.escape(question)) }

    /// Writes lines that a person sees before a question. They are escaped already.
    static func show(_ lines: [String]) { for line in lines { writeToPerson(line + "\n") } }

    /// Writes the note that a question is about.
    static func noteBeforeQuestion(_ message: String) {
        if errorIsTerminal { return note(message) }
        writeToPerson(TerminalText.fold(TerminalText.escape(message), indent: 2, width: .max) + "\n")
    }

    /// Whether a person at standard input sees the questions.
    static var canAsk: Bool { SecretInput.isTerminal && questions != nil }

    /// Standard error, or the terminal of standard input where errors go elsewhere. nil: neither is a terminal.
    private static let questions: Int32? = {
        if errorIsTerminal { return STDERR_FILENO }
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        let terminal = open("/proc/self/fd/\(STDIN_FILENO)", O_WRONLY | O_NOCTTY | O_CLOEXEC)
        return terminal < 0 ? nil : terminal
    }()

    private static func writeToPerson(_ text: String) {
        _ = write(text, to: questions ?? STDERR_FILENO)
    }

    /// Puts a text in the place of the terminal's present line.
    static func overwriteLine(_ text: String) {
        writeError("\r" + TerminalText.escape(text))
    }

    /// Ends the line of a question whose answer was no line.
    static func endLine() { writeToPerson("\n") }

    /// Writes a line that is escaped already. It may have colours.
    static func writeErrorLine(_ line: String) { writeError(line + "\n") }

    private static func writeError(_ text: String) {
        // A failure to write to standard error cannot be reported.
        _ = write(text, to: STDERR_FILENO)
    }

    /// - Returns: 0 or an errno value.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { UnsafeRawBufferPointer($0).write(to: descriptor) }
    }

    private static func check(_ failure: Int32) throws(ToolFailure) {
        if failure == 0 { return }
        if failure == EPIPE { throw ToolFailure(message: nil) }
        throw ToolFailure(message: "cannot write to standard output: \(String(cString: strerror(failure)))")
    }
}
