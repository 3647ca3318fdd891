internal import CKeychainLinux
internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// Runs a program as a child, and masks secrets in its output.
///
/// The child stays in this process's group. So the terminal's keys stop, continue and interrupt both, and neither takes
/// the terminal from a pager behind a pipe.
package struct MaskedRun {
    /// Together these portions are more than a pipe holds.
    private static let portionsAfterInterrupt = 64

    private let streams: [MaskedStream]
    private let output: MaskedStream?
    private let errors: MaskedStream?
    private let note: (String) -> Void

    /// - Parameters:
    ///   - note: Shows a note to the person.
    ///   - complain: Shows a failure to the person.
    /// - Returns: nil if no output or no secret is to be masked.
    package init?(
        _ secrets: [SecretBytes], note: @escaping (String) -> Void, complain: @escaping (String) -> Void
    ) throws(ProgramFailure) {
        self.note = note
        let targets = [STDOUT_FILENO, STDERR_FILENO].filter(MaskedStream.isMeant)
        if targets.isEmpty { return nil }
        let table = PatternTable(secrets.flatMap(MaskedForms.of))
        if table.isEmpty { return nil }
        output = targets.contains(STDOUT_FILENO) ? try MaskedStream(STDOUT_FILENO, table, complain) : nil
        if let output, targets.contains(STDERR_FILENO), Self.areSame(STDOUT_FILENO, STDERR_FILENO) {
            // Both share one stream, so that lines stay in their order.
            errors = output
            streams = [output]
        } else {
            errors = targets.contains(STDERR_FILENO) ? try MaskedStream(STDERR_FILENO, table, complain) : nil
            streams = [output, errors].compactMap(\.self)
        }
    }

    private static func areSame(_ one: Int32, _ other: Int32) -> Bool {
        var (first, second) = (stat(), stat())
        return fstat(one, &first) == 0 && fstat(other, &second) == 0 && FileNumber(first) == FileNumber(second)
    }

    /// Runs the program to its end, and to the end of its output.
    ///
    /// - Parameter whenStarted: Called when the program has its variables and files.
    package func run(_ program: RunProgram, whenStarted: () -> Void) throws(ProgramFailure) -> ProgramEnd {
        var signals: Int32 = -1
        let failure = ckeychain_note_signals(&signals)
        guard failure == 0 else { throw ProgramFailure("wait for signals", failure) }
        defer { tellOfBinary() }
        let process = try program.start(output: output?.writeEnd ?? -1, errors: errors?.writeEnd ?? -1)
        whenStarted()
        // The masked secrets stay in memory. Where the hard limit of core files is 0, the limit alone keeps no core
        // back.
        _ = ckeychain_hide_process()
        for stream in streams { stream.closeWriteEnd() }
        var end: ProgramEnd?
        var interrupts = Interrupts()
        var portionsLeft = Self.portionsAfterInterrupt
        while true {
            let open = streams.filter { !$0.isDone }
            if let end, open.isEmpty || portionsLeft == 0 { return end }
            // After an interrupt only the output that is there already is passed on.
            let isLast = interrupts.isEnd(end)
            if isLast { portionsLeft -= 1 }
            var polls = [pollfd(fd: signals, events: Int16(POLLIN), revents: 0)] + open.map(\.poll)
            let ready = poll(&polls, nfds_t(polls.count), isLast ? 0 : -1)
            guard ready >= 0 || errno == EINTR else { throw ProgramFailure("wait for output", errno) }
            if let end, isLast && ready == 0 { return end }
            if polls[0].revents != 0 { try heedSignals(process, &end, &interrupts) }
            for (stream, poll) in zip(open, polls.dropFirst()) where poll.revents != 0 { stream.advance() }
        }
    }

    private func tellOfBinary() {
        guard streams.contains(where: \.hasChangedBinary) else { return }
        note(
            "note: a secret was masked in output that is not text, which may be of no use now: --no-masking leaves all output "
                + "as it is")
    }

    /// Passes on signals of other processes. The child gets the kernel's, for a key of the terminal, itself.
    private func heedSignals(_ process: Int32, _ end: inout ProgramEnd?, _ interrupts: inout Interrupts)
        throws(ProgramFailure)
    {
        var (number, isSent): (Int32, Int32) = (0, 0)
        while ckeychain_next_signal(&number, &isSent) == 0 {
            if number == SIGCHLD {
                if end == nil { end = try ProgramEnd(process) }
                continue
            }
            interrupts.note(number, hasEnded: end != nil)
            if end == nil && isSent == 1 { kill(process, number) }
        }
    }
}

/// The signals that are meant to end the run.
private struct Interrupts {
    private var seen: Set<Int32> = []
    /// Whether a signal came when only processes were left that the program had started.
    private var isLate = false

    mutating func note(_ number: Int32, hasEnded: Bool) {
        guard [SIGINT, SIGTERM, SIGHUP, SIGQUIT].contains(number) else { return }
        seen.insert(number)
        isLate = isLate || hasEnded
    }

    /// Whether such a signal has ended the program, so that the run does not wait for output. Many programs go on after
    /// ^C.
    func isEnd(_ end: ProgramEnd?) -> Bool {
        guard let end else { return false }
        return isLate || end.signal.map(seen.contains) ?? false
    }
}
