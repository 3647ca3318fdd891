internal import Glibc
internal import KeychainModel

/// Where secrets come from: standard input, or a person at a terminal. Never from arguments.
enum SecretInput {
    /// The most an item can have.
    static let limit = 64 << 20

    /// Reads to the end of standard input, byte for byte; at a terminal one line, without its end, which is typed twice.
    ///
    /// - Parameter allowsEmpty: Otherwise nothing is no secret: a pipe is empty when the program before it has failed.
    /// - Throws: `.dataTooLarge` beyond the limit, `.parameter` for nothing, or a ``ToolFailure`` if nothing can be read.
    static func read(prompt: String, allowsEmpty: Bool) throws -> SecretBytes {
        let secret =
            isTerminal
            ? try TerminalPrompt.readLine(prompt)
            : try readToEnd(
                limit: limit,
                otherwise: "standard input has more than 64 MiB, the most an item can have; nothing was stored")
        guard allowsEmpty || secret.count > 0 else {
            throw KeychainError(
                .parameter,
                message: (isTerminal ? "nothing was typed" : "standard input is empty")
                    + "; nothing was changed. For an empty secret add --allow-empty")
        }
        if isTerminal {
            try requireEqual(secret, try TerminalPrompt.readLine("The same again: "), "secrets")
        } else if Console.errorIsTerminal && secret.isWholeLine {
            Console.note(
                "note: the secret ends with a line feed, which is stored too; 'printf %s' and 'echo -n' add none")
        }
        return secret
    }

    /// Secrets that nobody sees while they are typed are typed twice.
    static func requireEqual(_ first: SecretBytes, _ second: SecretBytes, _ name: String) throws(KeychainError) {
        let areEqual = first.withUnsafeBytes { first in second.withUnsafeBytes { first.elementsEqual($0) } }
        guard areEqual else {
            throw KeychainError(.parameter, message: "the two \(name) are not the same; nothing was changed")
        }
    }

    /// Whether a person is there to be asked.
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// - Throws: `.dataTooLarge` with the message given, beyond the limit.
    static func readToEnd(limit: Int, otherwise message: String) throws -> SecretBytes {
        let buffer = SecretBuffer()
        while try buffer.fill(
            from: STDIN_FILENO,
            failure: { ToolFailure(message: "cannot read standard input: \(String(cString: strerror($0)))") })
        {
            if buffer.count > limit { throw KeychainError(.dataTooLarge, message: message) }
        }
        return buffer.secret()
    }
}

extension SecretBytes {
    var endsLine: Bool { withUnsafeBytes { $0.last == UInt8(ascii: "\n") } }

    /// Whether it is what 'echo' makes: one line with its end.
    fileprivate var isWholeLine: Bool { withUnsafeBytes { $0.firstIndex(of: UInt8(ascii: "\n")) == $0.count - 1 } }
}
