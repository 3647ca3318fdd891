internal import KeychainModel

/// The steps of the demo, told one by one.
struct Demo {
    let terminal: DemoTerminal
    let isFull: Bool
    let isForScripts: Bool

    func run(_ steps: [DemoStep]) throws -> DemoReport {
        var report = DemoReport()
        // The kernel would keep the unlocked keys of a store that is gone.
        defer {
            for step in DemoStep.cleaning where report.steps.count - report.mistakes < steps.count {
                _ = try? DemoTerminal(home: terminal.home) { false }.run(step.line, step.answers)
            }
        }
        for step in steps {
            let (status, output, left) = try terminal.run(step.line, step.answers)
            if terminal.shouldStop() { throw ToolFailure(message: "the demo was stopped") }
            let result = DemoResult(step: step, status: status, output: output, answersLeft: left)
            if !isForScripts {
                if step.chapter != report.steps.last?.step.chapter { try Console.write("\n\(step.chapter)\n") }
                try Console.write(isFull ? result.text(report.steps.count + 1) : result.shortText)
            }
            report.steps.append(result)
        }
        return report
    }
}

struct DemoReport: Keyed {
    static let fields: [Field<Self>] = [
        Field("steps", "an array of objects") { $0.steps },
        Field("mistakes", "how many steps were not as told") { $0.mistakes },
    ]

    var steps: [DemoResult] = []

    var mistakes: Int { steps.count { !$0.isAsTold } }
}

struct DemoResult: Keyed {
    static let fields: [Field<Self>] = [
        Field("chapter", "the title of its chapter") { $0.step.chapter },
        Field("title", "what it shows") { $0.step.title },
        Field("line", "the command line") { $0.step.line },
        Field("status", "its exit status") { $0.status },
        Field("output", "an array of the lines that a terminal shows") { $0.output },
        Field("asTold", "whether the status and the output are as told") { $0.isAsTold },
    ]

    let step: DemoStep
    let status: Int32
    let output: [String]
    let answersLeft: Int

    var isAsTold: Bool {
        status == step.status && answersLeft == 0 && step.says.map(output.contains) != false
    }

    func text(_ number: Int) -> String {
        let start = "\(number < 10 ? " " : "")\(number). \(step.title)\n      $ \(step.line)\n"
        let lines = output.map { "        \(TerminalText.escape($0))\n" }.joined()
        return start + lines + "      → status \(status)\(verdict)\n"
    }

    var shortText: String {
        guard isAsTold else { return "  ✗ \(step.title)\n      $ \(step.line)\n      → status \(status)\(verdict)\n" }
        let mark = Console.outputHasColors ? "\u{1b}[32m✓\u{1b}[m" : "✓"
        let text = TerminalText.fold(
            status == 0 ? step.title : "\(step.title) → status \(status)", after: "    ", indent: 4,
            width: min(78, Console.outputWidth))
        return "  \(mark) \(text.dropFirst(4))\n"
    }

    private var verdict: String {
        if isAsTold { return "" }
        let says = step.says.map { " and the line \"\($0)\"" } ?? ""
        return "   NOT AS TOLD: expected status \(step.status)\(says)"
    }
}
