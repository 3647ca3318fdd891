package import KeychainModel

/// A prompter that only refuses, for programs without a person in front of them.
package final class NoPrompter: Prompter {
    private let reason: String

    /// - Parameter reason: The answer to every question, for a person to read.
    package init(_ reason: String = "nobody is to be asked (KEYCHAIN_PROMPT=none)") { self.reason = reason }

    /// - Throws: `.unavailable` for every question.
    package func ask(_ question: PromptQuestion, _ cancellation: Cancellation) throws(PromptFailure) -> SecretBytes {
        throw .unavailable(reason)
    }

    package func show(_ notice: PromptNotice, _ cancellation: Cancellation) throws(PromptFailure) {
        throw .unavailable(reason)
    }
}
