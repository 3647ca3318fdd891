internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The three descriptors between a tool and its helper.
struct HelperConsole {
    /// A limit that no message of a tool comes near.
    private static let mostBytes = 4 << 20

    /// The name that messages begin with.
    let program: String

    // MARK: Input

    /// Reads standard input to its end.
    func read() throws -> SecretBytes {
        let buffer = SecretBuffer()
        // A person at a terminal may take their time.
        if isatty(STDIN_FILENO) == 1 { TimeLimit.pause() }
        while try fill(buffer) {}
        TimeLimit.start()
        return buffer.secret()
    }

    /// - Returns: false at the end of the input.
    func fill(_ buffer: SecretBuffer) throws -> Bool {
        let goesOn = try buffer.fill(from: STDIN_FILENO) {
            HelperFailure("cannot read standard input: \(String(cString: strerror($0)))")
        }
        guard buffer.count <= Self.mostBytes else { throw HelperFailure("standard input has more than 4 MiB") }
        return goesOn
    }

    // MARK: Output

    func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }

    func write(_ bytes: Data) throws { try bytes.withUnsafeBytes { try write($0) } }

    func write(_ buffer: SecretBuffer) throws { try buffer.withUnsafeBytes { try write($0) } }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        let failure = bytes.write(to: STDOUT_FILENO)
        guard failure == 0 else {
            throw HelperFailure("cannot write to standard output: \(String(cString: strerror(failure)))")
        }
    }

    /// Writes the last words to a tool after a failure. If that fails too, the person is told.
    func writeLast(_ text: String) {
        do { try write(text) } catch { complain(error) }
    }

    /// Writes a message for a person, in one line. Names in it may come from servers: control characters are escaped.
    func complain(_ message: String) {
        var line = "\(program): \(TerminalText.escape(message))\n"
        // A failure to write to standard error cannot be reported.
        line.withUTF8 { _ = UnsafeRawBufferPointer($0).write(to: STDERR_FILENO) }
    }

    func complain(_ error: any Error) { complain(Self.text(of: error)) }

    static func text(of error: any Error) -> String {
        (error as? HelperFailure)?.message ?? KeychainModel.text(of: error)
    }
}

extension SecretBuffer {
    func append(_ text: StaticString) {
        text.withUTF8Buffer { append(UnsafeRawBufferPointer($0)) }
    }

    func append(_ secret: SecretBytes) { secret.withUnsafeBytes { append($0) } }

    func append(_ data: Data) { data.withUnsafeBytes { append($0) } }
}
