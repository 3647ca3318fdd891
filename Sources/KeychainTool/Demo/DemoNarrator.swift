internal import DataProtection
internal import KeychainModel

/// Tells the steps of the demo, and counts the mistakes.
final class DemoNarrator {
    private(set) var mistakes = 0
    private var number = 0
    /// The title of the present step, which is told at its end.
    private var title = ""
    private let shouldStop: () -> Bool
    /// Whether every step is told with its status and its message.
    private let isFull: Bool

    init(isFull: Bool = true, shouldStop: @escaping () -> Bool) {
        (self.isFull, self.shouldStop) = (isFull, shouldStop)
    }

    func chapter(_ title: String) throws {
        try Console.write("\n\(title)\n")
    }

    /// Does a step, and shows its real status.
    ///
    /// - Parameter code: The failure that the demo is about to show; nil if the step is to succeed.
    func step(
        _ title: String, expecting code: KeychainError.Code? = nil, _ body: () throws(KeychainError) -> Void
    ) throws {
        try announce(title)
        let failure: KeychainError?
        do throws(KeychainError) {
            try body()
            failure = nil
        } catch {
            failure = error
        }
        let status = failure?.code.status ?? 0
        try judge("status \(status)", failure?.code == code, "expected \(code?.description ?? "status 0")")
        if let failure { try remark("\"\(failure.message)\"") }
    }

    /// Does a step with a file, and shows the failure's name, and Apple's status if it has one.
    func fileStep(
        _ title: String, expecting code: DataProtectionError.Code? = nil, _ body: () throws(DataProtectionError) -> Void
    ) throws {
        try announce(title)
        let failure: DataProtectionError?
        do throws(DataProtectionError) {
            try body()
            failure = nil
        } catch {
            failure = error
        }
        let found = failure.map { "refused: \($0.code.rawValue)" } ?? "done"
        try judge(
            found + (failure?.status.map { ", status \($0)" } ?? ""), failure?.code == code,
            "expected \(code?.rawValue ?? "success")")
        if let failure { try remark("\"\(failure.message)\"") }
    }

    /// Shows a fact, and whether it is as told.
    func fact(_ title: String, _ found: String, isAsTold: Bool) throws {
        try announce(title)
        try judge(found, isAsTold, "that is wrong")
    }

    func remark(_ text: String) throws {
        guard isFull else { return }
        try Console.write("        \(TerminalText.escape(text))\n")
    }

    /// Counts a mistake that a step's own body has found.
    func expect(_ isTrue: Bool, _ otherwise: String) {
        if isTrue { return }
        mistakes += 1
        Console.complain("not as told: \(otherwise)")
    }

    private func announce(_ title: String) throws {
        if shouldStop() { throw ToolFailure(message: "the demo was stopped") }
        number += 1
        self.title = title
        let margin = number < 10 ? " " : ""
        if isFull { try Console.write("\(margin)\(number). \(title)\n") }
    }

    private func judge(_ found: String, _ isAsTold: Bool, _ otherwise: String) throws {
        if !isAsTold { mistakes += 1 }
        if !isFull && isAsTold {
            let mark = Console.outputHasColors ? "\u{1b}[32m✓\u{1b}[m" : "✓"
            let isSuccess = ["status 0", "done"].contains(found)
            let text = TerminalText.fold(
                isSuccess ? title : "\(title) → \(found)", after: "    ", indent: 4, width: min(78, Console.outputWidth)
            )
            return try Console.write("  \(mark) \(text.dropFirst(4))\n")
        }
        if !isFull { try Console.write("  ✗ \(title)\n") }
        try Console.write("      → \(found)\(isAsTold ? "" : "   NOT AS TOLD: \(otherwise)")\n")
    }
}
