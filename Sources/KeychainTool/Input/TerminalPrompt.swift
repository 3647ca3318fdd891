internal import Glibc
internal import KeychainModel

/// A question at the terminal whose answer is not shown.
///
/// `TerminalPrompter` asks on behalf of other programs, which ^C and ^Z must neither end nor stop. Here the keys end
/// and stop the command, as they do with every command.
enum TerminalPrompt {
    /// Asks on standard error and reads a line from the terminal on standard input.
    ///
    /// Afterwards the terminal shows typed text again, even after a signal that ends or stops the program.
    static func readLine(_ prompt: String) throws -> SecretBytes {
        let signals = HeldSignals()
        defer { signals.release() }
        let buffer = SecretBuffer()
        while true {
            do throws(Interruption) {
                try withoutEcho(prompt) { () throws(Interruption) in try readLine(into: buffer, signals) }
                break
            } catch .signal {
                // The terminal is as it was, so the signal may take effect. After SIGTSTP the program goes on here.
                signals.deliver()
            } catch .failure(let failure) {
                throw ToolFailure(message: "cannot read from the terminal: \(String(cString: strerror(failure)))")
            }
        }
        let isWhole = buffer.last == UInt8(ascii: "\n")
        // ^D has no line end of its own.
        if !isWhole { Console.endLine() }
        if buffer.count == 0 { throw KeychainError(.userCancelled, message: "nothing was typed; nothing was changed") }
        return buffer.secret(droppingLast: isWhole ? 1 : 0)
    }

    private enum Interruption: Error {
        case signal
        case failure(Int32)
    }

    private static func withoutEcho(
        _ prompt: String, _ body: () throws(Interruption) -> Void
    ) throws(Interruption) {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { throw .failure(errno) }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        silent.c_lflag |= tcflag_t(ECHONL | ICANON | ISIG)
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else { throw .failure(errno) }
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) }
        Console.ask(prompt)
        try body()
    }

    private static func readLine(into buffer: SecretBuffer, _ signals: HeldSignals) throws(Interruption) {
        while buffer.last != UInt8(ascii: "\n") {
            var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            // Held signals do not wake a poll, so the loop looks for them now and then.
            let ready = poll(&waiting, 1, 100)
            if signals.arePending { throw .signal }
            if ready == 0 || (ready < 0 && errno == EINTR) { continue }
            guard ready > 0 else { throw .failure(errno) }
            let room = buffer.room()
            let count = read(STDIN_FILENO, room.baseAddress, room.count)
            guard count >= 0 else { throw .failure(errno) }
            buffer.advance(by: count)
            if count == 0 { return }
        }
    }
}
