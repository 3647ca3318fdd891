internal import Glibc
package import KeychainModel

/// Asks with one of GnuPG's dialogs that is installed: at a display or at the terminal.
///
/// The typed bytes come through a socket that only this process and the dialog have, into memory that is erased. The
/// dialog itself is a program of the user: other programs of that user may look into it, and on X11 at the keys
/// pressed. A dialog at the terminal is in this process's group, so ^C there ends it like any program.
package final class PinentryPrompter: Prompter {
    private let configuration: PromptConfiguration

    package init(_ configuration: PromptConfiguration = .process) { self.configuration = configuration }

    package func ask(_ question: PromptQuestion, _ cancellation: Cancellation) throws(PromptFailure) -> SecretBytes {
        try withDialog(cancellation) { session throws(PinentryFailure) in try session.ask(PromptWords(question)) }
    }

    /// - Throws: also `.timedOut`, when neither the person nor the reader has done anything for as long as a person has
    ///   for an answer.
    package func show(_ notice: PromptNotice, _ cancellation: Cancellation) throws(PromptFailure) {
        try withDialog(cancellation) { session throws(PinentryFailure) in try session.show(PromptWords(notice)) }
    }

    /// Runs `body` with the first of the candidates that can show anything.
    private func withDialog<R>(
        _ cancellation: Cancellation, _ body: (PinentrySession) throws(PinentryFailure) -> R
    ) throws(PromptFailure) -> R {
        try configuration.turn.perform(cancellation) { wait throws(PromptFailure) -> R in
            let terminal = configuration.dialogTerminal
            let candidates = PinentryCandidates(configuration, hasTerminal: terminal != nil)
            var failures: [String] = []
            for path in candidates.paths {
                do throws(PinentryFailure) {
                    return try run(path, wait, terminal, body)
                } catch {
                    switch error {
                    case .notShown(let text): failures.append(text)
                    case .broken(let failure): throw failure.promptFailure(of: path)
                    case .final(let failure): throw failure
                    }
                }
            }
            failures.append(candidates.search)
            throw .unavailable("no pinentry can be shown: " + failures.joined(separator: "; "))
        }
    }

    private func run<R>(
        _ path: String, _ wait: Wait, _ terminal: String?, _ body: (PinentrySession) throws(PinentryFailure) -> R
    ) throws(PinentryFailure) -> R {
        let modes = terminal.flatMap(TerminalModes.init(of:))
        let program = try start(path)
        let session = PinentrySession(AssuanConnection(program.socket, wait), configuration.limits, name: path)
        let result: Result<R, PinentryFailure>
        do throws(PinentryFailure) {
            try session.begin(PinentryEnvironment.options(configuration, terminal: terminal))
            result = .success(try body(session))
        } catch {
            result = .failure(error)
        }
        session.end()
        let status = program.end(isDone: session.isInOrder, limit: configuration.limits.end)
        let signal = status.map { $0 & 0x7f } ?? 0
        // One that was ended in the middle of a question leaves the terminal as it needed it.
        if !session.isInOrder || signal != 0 { modes?.restore() }
        if case .failure(.broken(.closed)) = result, signal == SIGINT { throw .final(.declined) }
        return try result.get()
    }

    private func start(_ path: String) throws(PinentryFailure) -> ProgramRun {
        do throws(ProgramRun.CannotStart) {
            return try ProgramRun(path, variables: PinentryEnvironment.variables(configuration))
        } catch {
            throw .notShown("\(path) does not start: \(String(cString: strerror(error.code)))")
        }
    }
}
