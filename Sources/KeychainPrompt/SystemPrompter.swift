package import KeychainModel

/// Asks by the means of this machine: a pinentry, else the terminal.
///
/// `KEYCHAIN_PROMPT` chooses one of them, or `none`. Questions of this process are asked one after the other.
package final class SystemPrompter: Prompter {
    private let prompters: [any Prompter]

    package init(_ configuration: PromptConfiguration = .process) {
        prompters =
            switch configuration.variable("KEYCHAIN_PROMPT") {
            case nil: [PinentryPrompter(configuration), TerminalPrompter(configuration)]
            case "pinentry": [PinentryPrompter(configuration)]
            case "terminal": [TerminalPrompter(configuration)]
            case "none": [NoPrompter()]
            case let other?:
                [
                    NoPrompter(
                        "KEYCHAIN_PROMPT is \(HarmlessText.make(other, limit: 40)); it must be none, terminal or pinentry"
                    )
                ]
            }
    }

    package func ask(_ question: PromptQuestion, _ cancellation: Cancellation) throws(PromptFailure) -> SecretBytes {
        try withFirst { prompter throws(PromptFailure) in try prompter.ask(question, cancellation) }
    }

    package func show(_ notice: PromptNotice, _ cancellation: Cancellation) throws(PromptFailure) {
        try withFirst { prompter throws(PromptFailure) in try prompter.show(notice, cancellation) }
    }

    /// Asks in the first way that there is.
    private func withFirst<R>(_ body: (any Prompter) throws(PromptFailure) -> R) throws(PromptFailure) -> R {
        var reasons: [String] = []
        for prompter in prompters {
            do throws(PromptFailure) {
                return try body(prompter)
            } catch {
                guard case .unavailable(let reason) = error else { throw error }
                reasons.append(reason)
            }
        }
        throw .unavailable(reasons.joined(separator: "; "))
    }
}
