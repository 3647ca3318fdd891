internal import Dispatch
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Asks a person for the proof that a keychain wants, in one session. It blocks its thread for as long as the person
/// takes.
struct AuthenticationDialog {
    let session: AuthenticationSession
    /// Ends the questions of this call; other calls in the same session go on.
    var cancellation: Cancellation?
    let prompter: any Prompter
    /// The program as a person would know it.
    let programName: String
    /// Why the program asks, this time; nil: as the session says.
    let reason: String?
    let mayAsk: Bool
    /// Waits at the reader of fingers or faces.
    let readBiometry: (Cancellation, (BiometryHint) -> Void) throws(BiometryFailure) -> BiometryTicket
    /// Tells the keychain that a ticket is worth nothing any more.
    let endTicket: @Sendable (BiometryTicket) -> Void

    /// The state of one question: why an answer was wrong, and whether a password is new.
    struct Question {
        var complaint: String?
        /// An application password is chosen now, for an item that is stored.
        var choosesPassword = false
    }

    /// Has one of the alternatives shown, as far as the session does not have it already.
    ///
    /// - Returns: all factors of that alternative.
    func satisfy(
        _ alternatives: [Set<AuthenticationFactor>], _ question: Question
    ) throws(AuthenticationFailure) -> Set<AuthenticationFactor> {
        if session.isInvalidated { throw .invalidContext }
        let known = session.factors
        if let present = alternatives.first(where: { $0.isSubset(of: known) }) { return present }
        if session.forbidsInteraction || !mayAsk { throw .interactionForbidden }
        // A finger is quicker than a passcode.
        let byBiometry = alternatives.first { $0.contains(.biometry) }
        let others = alternatives.filter { !$0.contains(.biometry) }
        if let byBiometry {
            if known.contains(.biometry) { return try show(byBiometry, question) }
            if try verifyBiometry(mayFallBack: !others.isEmpty) { return try show(byBiometry, question) }
        }
        guard let other = others.first else { throw .notInteractive("nothing can be asked for") }
        return try show(other, question)
    }

    private func show(
        _ factors: Set<AuthenticationFactor>, _ question: Question
    ) throws(AuthenticationFailure) -> Set<AuthenticationFactor> {
        let missing = factors.subtracting(session.factors)
        if missing.contains(.passcode) {
            let passcode = try ask(.passcode, question)
            guard session.keep(passcode: passcode) else { throw .invalidContext }
        }
        if missing.contains(.applicationPassword) {
            let password = try ask(question.choosesPassword ? .newApplicationPassword : .applicationPassword, question)
            if question.choosesPassword && password.count == 0 {
                throw .rejected("an application password is not empty")
            }
            guard session.keep(applicationPassword: password) else { throw .invalidContext }
        }
        return factors
    }

    private func ask(
        _ wanted: PromptQuestion.Wanted, _ question: Question
    ) throws(AuthenticationFailure) -> SecretBytes {
        let wording = session.wording
        var prompt = PromptQuestion(wanted, reason: reason ?? wording.reason, program: programName)
        prompt.complaint = question.complaint
        prompt.cancelTitle = wording.cancelTitle
        return try whileAsking { cancellation throws(AuthenticationFailure) in
            do throws(PromptFailure) {
                return try prompter.ask(prompt, cancellation)
            } catch {
                throw AuthenticationFailure(error)
            }
        }
    }

    private func whileAsking<R>(
        _ body: (Cancellation) throws(AuthenticationFailure) -> R
    ) throws(AuthenticationFailure) -> R {
        try session.whileAsking { asking throws(AuthenticationFailure) in
            try BlockingCalls.whileWaitingForPerson { () throws(AuthenticationFailure) in
                guard let cancellation else { return try body(asking) }
                return try cancellation.withHandler({ asking.cancel() }) { () throws(AuthenticationFailure) in
                    try body(asking)
                }
            }
        }
    }

    // MARK: Biometry

    /// Waits at the reader, while the person is told and may choose the fallback instead.
    ///
    /// - Returns: false if there is a fallback and it is to be taken: the person chose it, or the reader did not know
    ///   the person.
    func verifyBiometry(mayFallBack: Bool) throws(AuthenticationFailure) -> Bool {
        let failure: AuthenticationFailure
        do throws(AuthenticationFailure) {
            let ticket = try waitAtReader(mayFallBack: mayFallBack)
            guard session.keep(ticket, end: endTicket) else { throw .invalidContext }
            return true
        } catch {
            failure = error
        }
        switch failure {
        case .fallback, .rejected, .biometryNotAvailable, .biometryNotEnrolled, .biometryLockedOut, .interrupted:
            if mayFallBack { return false }
            throw failure
        default: throw failure
        }
    }

    private func waitAtReader(mayFallBack: Bool) throws(AuthenticationFailure) -> BiometryTicket {
        return try whileAsking { cancellation throws(AuthenticationFailure) in
            let reading = Cancellation()
            let board = NoticeBoard(prompter, reading)
            defer { board.clear() }
            let result = cancellation.withHandler({ reading.cancel() }) {
                Result { () throws(BiometryFailure) in
                    try readBiometry(reading) { board.show(notice($0, mayFallBack)) }
                }
            }
            switch result {
            case .success(let ticket): return ticket
            case .failure(.cancelled):
                if cancellation.isCancelled { throw .cancelled }
                throw board.choice ?? .cancelled
            case .failure(let failure): throw AuthenticationFailure(failure)
            }
        }
    }

    private func notice(_ hint: BiometryHint, _ mayFallBack: Bool) -> PromptNotice {
        let wording = session.wording
        var notice = PromptNotice(
            reason: reason ?? wording.reason, program: programName, hint: hint.text)
        // A program that gives an empty title wants none. Any other title stands for a way of its own, where there is
        // no passcode to fall back to.
        notice.fallbackTitle = wording.fallbackTitle ?? (mayFallBack ? "Use passcode" : nil)
        if notice.fallbackTitle == "" { notice.fallbackTitle = nil }
        notice.cancelTitle = wording.cancelTitle
        return notice
    }
}

/// Where the reader's hints are shown, one at a time.
private final class NoticeBoard: Sendable {
    private let prompter: any Prompter
    private let reading: Cancellation
    private let shown = Mutex<ShownNotice?>(nil)

    init(_ prompter: any Prompter, _ reading: Cancellation) {
        self.prompter = prompter
        self.reading = reading
    }

    /// The person's choice in the notice; nil: none yet.
    var choice: AuthenticationFailure? { shown.withLock { $0 }?.choice }

    /// Shows a notice in the place of the one before.
    func show(_ notice: PromptNotice) {
        clear()
        // Not after the person has chosen: the waiting ends then.
        if choice == nil { shown.withLock { $0 = ShownNotice(notice, prompter, reading) } }
    }

    func clear() { shown.withLock { $0 }?.end() }
}

/// A notice on a thread of its own. The person's choice there ends the waiting at the reader.
private final class ShownNotice: Sendable {
    private let showing = Cancellation()
    private let hasEnded = DispatchGroup()
    private let chosen = Mutex<AuthenticationFailure?>(nil)

    /// The person's choice; nil: none yet.
    var choice: AuthenticationFailure? { chosen.withLock { $0 } }

    init(_ notice: PromptNotice, _ prompter: any Prompter, _ reading: Cancellation) {
        hasEnded.enter()
        let start = { () throws(KeychainError) in
            try WorkerThread.startForProgram("keychain prompt") { [self] in
                run(notice, prompter, reading)
            }
        }
        // Nothing waits for a notice that cannot be shown.
        if (try? start()) == nil { hasEnded.leave() }
    }

    private func run(_ notice: PromptNotice, _ prompter: any Prompter, _ reading: Cancellation) {
        defer { hasEnded.leave() }
        do throws(PromptFailure) {
            try prompter.show(notice, showing)
            choose(.fallback, reading)
        } catch {
            switch error {
            case .declined: choose(.declined, reading)
            // Where nothing can be shown, or not any longer, the reader is waited for all the same.
            case .cancelled, .unavailable, .timedOut, .failed: break
            }
        }
    }

    private func choose(_ choice: AuthenticationFailure, _ reading: Cancellation) {
        chosen.withLock { $0 = choice }
        reading.cancel()
    }

    /// Takes the notice away.
    func end() {
        showing.cancel()
        hasEnded.wait()
    }
}
