internal import KeychainModel

/// Why a program got no answer from a person.
enum PinentryFailure: Error {
    /// The program could not ask: another program may.
    case notShown(String)
    /// The conversation broke off while a person may have been looking at the dialog.
    case broken(AssuanFailure)
    /// A failure that another program would have too.
    case final(PromptFailure)
}

/// A conversation with a pinentry: the words of the dialog, and the person's answers.
final class PinentrySession {
    private let connection: AssuanConnection
    private let limits: PromptConfiguration.Limits
    /// The program, for messages.
    private let name: String
    /// Whether the program still obeys, so that it can be told to end.
    private(set) var isInOrder = true

    /// The number of times that two answers may differ.
    private static let attemptLimit = 3

    init(_ connection: AssuanConnection, _ limits: PromptConfiguration.Limits, name: String) {
        self.connection = connection
        self.limits = limits
        self.name = name
    }

    /// Waits for the greeting and sends the options that do not depend on the question.
    func begin(_ options: [String]) throws(PinentryFailure) {
        guard case .done = try prepare({ () throws(AssuanFailure) in try connection.reply(until: replyDeadline) })
        else {
            throw .notShown("\(name) does not want to")
        }
        for option in options { try mention("OPTION \(option)") }
        try mention("SETTITLE Keychain")
        let seconds = max(1, Int((limits.answer / .seconds(1)).rounded(.up)))
        try mention("SETTIMEOUT \(seconds)")
    }

    /// Asks for something to be typed.
    func ask(_ words: PromptWords) throws(PinentryFailure) -> SecretBytes {
        try describe(words)
        try mention("SETOK OK")
        guard let repeatedField = words.repeatedField else { return try secret(words.field, words.complaint).0 }
        return try newSecret(words, repeatedField)
    }

    /// Returns if the person chooses the fallback.
    func show(_ words: PromptWords) throws(PinentryFailure) {
        try describe(words)
        try mention("SETOK \(AssuanText.escapeTitle(words.fallbackTitle ?? words.cancelTitle))")
        // With nothing to choose there is but the button that cancels.
        try confirm(words.fallbackTitle == nil ? "CONFIRM --one-button" : "CONFIRM")
        if words.fallbackTitle == nil { throw .final(.declined) }
    }

    func end() {
        guard isInOrder else { return }
        do throws(AssuanFailure) {
            try connection.send("BYE", until: replyDeadline)
        } catch {
            // The program is made to end then.
            isInOrder = false
        }
    }

    // MARK: - Questions

    /// Has the answer typed twice, by the program itself where it can.
    private func newSecret(_ words: PromptWords, _ repeatedField: String) throws(PinentryFailure) -> SecretBytes {
        if try mention("SETREPEAT \(AssuanText.escape(repeatedField))") {
            try mention("SETREPEATERROR \(AssuanText.escape(PromptWords.mismatch))")
        }
        var complaint = words.complaint
        for _ in 0..<Self.attemptLimit {
            let (first, status) = try secret(words.field, complaint)
            // Some programs take the command and do not carry it out: the others say that they did.
            if status.contains("PIN_REPEATED") { return first }
            let (second, _) = try secret(repeatedField, nil)
            if first.hasSameBytes(as: second) { return first }
            complaint = PromptWords.mismatch
        }
        throw .final(.failed("what was typed twice was not the same, \(Self.attemptLimit) times"))
    }

    private func secret(
        _ field: String, _ complaint: String?
    ) throws(PinentryFailure) -> (SecretBytes, status: Set<String>) {
        try mention("SETPROMPT \(AssuanText.escape(field))")
        if let complaint { try mention("SETERROR \(AssuanText.escape(complaint))") }
        let data = ErasedBuffer(capacity: limits.secretByteCount)
        let status = try answer("GETPIN", into: data)
        return (data.secret(), status)
    }

    private func confirm(_ command: String) throws(PinentryFailure) { _ = try answer(command, into: nil) }

    /// Sends a command for the person to answer; the program itself gives up first.
    private func answer(_ command: String, into data: ErasedBuffer?) throws(PinentryFailure) -> Set<String> {
        let deadline = ContinuousClock.now + limits.answer + limits.grace
        let reply: AssuanReply
        do throws(AssuanFailure) {
            reply = try connection.command(command, into: data, until: deadline)
        } catch {
            isInOrder = false
            throw .broken(error)
        }
        switch reply {
        case .done(let status): return status
        case .refused(let code, _) where code.isDecline: throw .final(.declined)
        case .refused(let code, _) where code.isTimeout: throw .final(.timedOut)
        case .refused(let code, let text) where code.tellsOfNoDisplay: throw .notShown("\(name): \(text)")
        case .refused(_, let text): throw .final(.failed("\(name): \(text)"))
        }
    }

    // MARK: - Preparation

    private var replyDeadline: ContinuousClock.Instant { .now + limits.reply }

    /// Tells the dialog the question and the asking program. A dialog that refuses these is not shown.
    private func describe(_ words: PromptWords) throws(PinentryFailure) {
        let text = words.description.map(AssuanText.escape).joined(separator: "%0A")
        guard try mention("SETDESC \(text)") else { throw .notShown("\(name) cannot say who asks") }
        try mention("SETCANCEL \(AssuanText.escapeTitle(words.cancelTitle))")
    }

    /// Says something that a program need not know.
    ///
    /// - Returns: whether it does.
    @discardableResult
    private func mention(_ line: String) throws(PinentryFailure) -> Bool {
        let reply = try prepare { () throws(AssuanFailure) in try connection.command(line, until: replyDeadline) }
        if case .done = reply { return true }
        return false
    }

    /// Before a person sees anything, a program that ends or hangs is one that cannot ask.
    private func prepare(_ body: () throws(AssuanFailure) -> AssuanReply) throws(PinentryFailure) -> AssuanReply {
        do throws(AssuanFailure) {
            return try body()
        } catch {
            isInOrder = false
            switch error {
            case .closed: throw .notShown("\(name) ended at once")
            case .timedOut: throw .notShown("\(name) does not answer")
            case .cancelled, .garbage, .system: throw .broken(error)
            }
        }
    }
}
