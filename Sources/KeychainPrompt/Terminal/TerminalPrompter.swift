internal import CKeychainLinux
package import KeychainModel

/// Asks at the terminal of this process, where nothing of the answer is shown.
///
/// While it asks for another program, ^C, ^\ and ^D on an empty line decline instead of sending a signal, and ^Z does
/// nothing. A signal from elsewhere that would end the process (SIGHUP, SIGINT, SIGQUIT, SIGTERM, as far as the program has left them as they
/// are; Swift itself takes SIGQUIT where it prints backtraces) first gives the terminal back as it was; so does exit(3).
/// After SIGCONT it is silent again, whatever a shell has made of it. The process's handlers for these are its own again
/// when the question is over. SIGKILL and crashes leave the terminal silent, and so does a handler of the program's that ends
/// it with _exit(2); most shells mend that.
package final class TerminalPrompter: Prompter {
    private let configuration: PromptConfiguration

    /// The number of times that two answers may differ.
    private static let attemptLimit = 3

    /// - Parameter configuration: Its turn should be that of the process: there is one set of signal handlers.
    package init(_ configuration: PromptConfiguration = .process) { self.configuration = configuration }

    package func ask(_ question: PromptQuestion, _ cancellation: Cancellation) throws(PromptFailure) -> SecretBytes {
        try withTerminal(cancellation) { terminal throws(PromptFailure) in
            let words = PromptWords(question, isASCII: isASCII)
            try terminal.write(words.description.map { $0 + "\n" }.joined())
            guard let repeatedField = words.repeatedField else {
                return try terminal.readSecret(words.field, words.complaint)
            }
            return try newSecret(terminal, words, repeatedField)
        }
    }

    /// - Throws: also `.timedOut`, when neither the person nor the reader has done anything for as long as a person has
    ///   for an answer.
    package func show(_ notice: PromptNotice, _ cancellation: Cancellation) throws(PromptFailure) {
        try withTerminal(cancellation) { terminal throws(PromptFailure) in
            let words = PromptWords(notice, isASCII: isASCII)
            let fallback = words.fallbackTitle.map { "Enter: \($0). " } ?? ""
            try terminal.write(
                words.description.map { $0 + "\n" }.joined() + "\(fallback)q: \(words.cancelTitle). ")
            try terminal.awaitChoice(hasFallback: words.fallbackTitle != nil)
        }
    }

    /// Reads a line at the terminal of a descriptor for this program itself. It waits as long as the person does, and
    /// ^C, ^\ and ^Z send the signals that they send at any other time.
    ///
    /// - Parameters:
    ///   - ask: Shows the question, when the terminal is silent.
    ///   - end: Ends the line of the question.
    /// - Throws: `.declined` after ^D on an empty line.
    package func readLine(
        at descriptor: Int32, ask: () -> Void, end: () -> Void
    ) throws(PromptFailure) -> SecretBytes {
        while true {
            var line = TerminalLine(capacity: configuration.limits.secretByteCount)
            let device = try Self.device(of: descriptor)
            let key = try configuration.turn.perform(Cancellation()) { wait throws(PromptFailure) in
                return try Self.silencing(device) { () throws(PromptFailure) in
                    ask()
                    defer { end() }
                    do throws(WaitFailure) { return try line.read(from: device, wait, until: nil) } catch {
                        throw PromptFailure(error)
                    }
                }
            }
            switch key {
            case .enter where line.isTooLong:
                throw .failed(
                    "the answer has more than \(configuration.limits.secretByteCount) bytes: a longer one goes through "
                        + "standard input")
            case .enter: return line.buffer.secret()
            // The terminal is as it was. After SIGTSTP the program goes on here, and asks again.
            case .signal(let number): device.signal(number)
            case .end, .other, nil: throw .declined
            }
        }
    }

    private func newSecret(
        _ terminal: TerminalDialog, _ words: PromptWords, _ repeatedField: String
    ) throws(PromptFailure) -> SecretBytes {
        var complaint = words.complaint
        for _ in 0..<Self.attemptLimit {
            let first = try terminal.readSecret(words.field, complaint)
            let second = try terminal.readSecret(repeatedField, nil)
            if first.hasSameBytes(as: second) { return first }
            complaint = PromptWords.mismatch
        }
        throw .failed("what was typed twice was not the same, \(Self.attemptLimit) times")
    }

    private func withTerminal<R>(
        _ cancellation: Cancellation, _ body: (TerminalDialog) throws(PromptFailure) -> R
    ) throws(PromptFailure) -> R {
        try configuration.turn.perform(cancellation) { wait throws(PromptFailure) -> R in
            let device = try open()
            return try Self.silencing(device) { () throws(PromptFailure) in
                try body(TerminalDialog(device, wait, configuration.limits))
            }
        }
    }

    private static func silencing<R>(
        _ device: TerminalDevice, _ body: () throws(PromptFailure) -> R
    ) throws(PromptFailure) -> R {
        let failure = ckeychain_silence_terminal(device.descriptor)
        guard failure == 0 else { throw PromptFailure(WaitFailure.system(failure)) }
        defer { ckeychain_restore_terminal() }
        return try body()
    }

    private static func device(of descriptor: Int32) throws(PromptFailure) -> TerminalDevice {
        do throws(TerminalDevice.Unusable) {
            return try TerminalDevice(of: descriptor)
        } catch {
            throw .failed("cannot ask at the terminal: \(error.reason)")
        }
    }

    private func open() throws(PromptFailure) -> TerminalDevice {
        do throws(TerminalDevice.Unusable) {
            return try TerminalDevice(configuration.terminal)
        } catch {
            throw .unavailable("cannot ask at a terminal: \(error.reason)")
        }
    }

    /// Whether the terminal may take the bytes of UTF-8 for something else: for controls of its own, even.
    private var isASCII: Bool {
        let locale = (configuration.characterLocale ?? "").uppercased()
        return !locale.contains("UTF-8") && !locale.contains("UTF8")
    }
}
