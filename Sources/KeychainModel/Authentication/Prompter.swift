/// Something that a person is asked to type.
package struct PromptQuestion: Sendable {
    package enum Wanted: Sendable, Hashable {
        /// The keychain's own passcode.
        case passcode
        /// The password that a program chose for an item.
        case applicationPassword
        /// A new application password, which is to be typed twice.
        case newApplicationPassword
    }

    package var wanted: Wanted
    /// Why the program asks, in its own words; nil: it gave no reason.
    package var reason: String?
    /// The program that asks, as a person would know it: a name, and the path of its executable.
    package var program: String
    /// The fault of the answer before; nil: this is the first time.
    package var complaint: String?
    /// Words of the program's own for the button that cancels.
    package var cancelTitle: String?

    package init(_ wanted: Wanted, reason: String?, program: String) {
        self.wanted = wanted
        self.reason = reason
        self.program = program
    }
}

/// The words for a person while a reader waits for them.
package struct PromptNotice: Sendable {
    package var reason: String?
    package var program: String
    /// The next step for the person: ``BiometryHint/text``.
    package var hint: String
    /// Words for choosing another way, a passcode for instance; nil: there is no other way.
    package var fallbackTitle: String?
    package var cancelTitle: String?

    package init(reason: String?, program: String, hint: String) {
        self.reason = reason
        self.program = program
        self.hint = hint
    }
}

package enum PromptFailure: Error, Sendable, Hashable {
    case declined
    case cancelled
    /// There is nothing to ask with. The text says what was looked for, and what to do about it.
    case unavailable(String)
    /// The person did not answer.
    case timedOut
    /// The asking program or terminal broke off.
    case failed(String)
}

/// Asks the person in front of the machine. It is always in the client: a daemon cannot draw in a session.
///
/// The typed bytes never go through arguments, the environment or memory that is not erased. Its functions may be
/// called from several threads; two questions at once are asked one after the other.
package protocol Prompter: AnyObject, Sendable {
    /// Asks for something to be typed.
    ///
    /// - Throws: `.cancelled` as soon as the cancellation is; an answer that comes later is erased.
    func ask(_ question: PromptQuestion, _ cancellation: Cancellation) throws(PromptFailure) -> SecretBytes

    /// Says that a reader waits, until the cancellation is cancelled, because the reader has seen an enrolled person.
    ///
    /// Returns if the person chooses the fallback.
    ///
    /// - Throws: `.declined`, `.cancelled`, or `.unavailable` if a notice cannot be shown during a wait: the reader may
    ///   be waited for all the same.
    func show(_ notice: PromptNotice, _ cancellation: Cancellation) throws(PromptFailure)
}
