internal import Glibc
internal import KeychainModel
internal import KeychainPrompt
internal import KeychainSystem

/// The source of secrets: standard input, or a person at a terminal. Arguments never have secrets.
enum SecretInput {
    /// The most bytes of an item's secret.
    static let limit = 64 << 20

    /// Reads standard input to its end, byte for byte. At a terminal a person types one line twice.
    ///
    /// - Parameter allowsEmpty: Whether an empty secret is allowed. A pipe is empty when the program before it has
    ///   failed.
    /// - Throws: `.dataTooLarge` beyond the limit, `.parameter` for an empty secret, or a `SystemError` if the input
    ///   cannot be read.
    static func read(prompt: String, allowsEmpty: Bool) throws -> SecretBytes {
        var secret =
            isTerminal
            ? try readLine(prompt)
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
            secret = try agreed(secret, try readLine("The same again: "), "secrets")
        } else if Console.errorIsTerminal && secret.isWholeLine {
            Console.note(
                "note: the secret ends with a line feed, which is stored too; 'printf %s' and 'echo -n' add none")
        }
        return secret
    }

    /// Asks at the terminal of standard input for a line that is not shown.
    static func readLine(_ question: String) throws -> SecretBytes {
        do throws(PromptFailure) {
            return try TerminalPrompter().readLine(at: STDIN_FILENO, ask: { Console.ask(question) }) {
                Console.endLine()
            }
        } catch {
            switch error {
            case .failed(let reason), .unavailable(let reason): throw ToolFailure(message: reason)
            case .declined, .cancelled, .timedOut:
                throw KeychainError(.userCancelled, message: "nothing was typed; nothing was changed")
            }
        }
    }

    /// Compares the two entries of a secret, which the person could not see.
    ///
    /// - Returns: The secret.
    static func agreed(
        _ first: SecretBytes, _ second: SecretBytes, _ name: String
    ) throws(KeychainError) -> SecretBytes {
        guard first.hasSameBytes(as: second) else {
            throw KeychainError(.parameter, message: "the two \(name) are not the same; nothing was changed")
        }
        return first
    }

    /// Whether standard input is a terminal, with a person to ask.
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// - Parameter failure: Makes an error of an errno value.
    /// - Throws: `.dataTooLarge` with `message` beyond the limit.
    static func readToEnd(
        _ descriptor: Int32 = STDIN_FILENO, limit: Int, otherwise message: String,
        failure: (Int32) -> any Error = { SystemError("read standard input", $0) }
    ) throws -> SecretBytes {
        let buffer = SecretBuffer()
        while try buffer.fill(from: descriptor, failure: failure) {
            if buffer.count > limit { throw KeychainError(.dataTooLarge, message: message) }
        }
        return buffer.secret()
    }
}

extension SecretBytes {
    var endsLine: Bool { withUnsafeBytes { $0.last == UInt8(ascii: "\n") } }

    /// Whether the secret is one line with its end, as 'echo' makes it.
    fileprivate var isWholeLine: Bool { withUnsafeBytes { $0.firstIndex(of: UInt8(ascii: "\n")) == $0.count - 1 } }
}

/// A file that a person names, or standard input.
enum FileInput {
    static func isStandardInput(_ path: String?) -> Bool { path == nil || path == "-" }

    /// - Parameter path: nil or "-": standard input, to its end.
    /// - Throws: `.inputOutput` if the file cannot be read, `.dataTooLarge` with `message` beyond the limit.
    static func read(_ path: String?, limit: Int, otherwise message: String) throws -> SecretBytes {
        guard let path, !isStandardInput(path) else {
            return try SecretInput.readToEnd(limit: limit, otherwise: message)
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw KeychainError(file: path, "read", errno) }
        defer { close(descriptor) }
        return try SecretInput.readToEnd(descriptor, limit: limit, otherwise: message) { number in
            KeychainError(file: path, "read", number)
        }
    }
}
