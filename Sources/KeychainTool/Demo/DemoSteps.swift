/// A command line of the demo, and its result as the demo tells it.
struct DemoStep {
    let chapter: String
    let title: String
    private(set) var line = ""
    /// The texts that are typed at the questions of the line. It asks as many.
    private(set) var answers: [String] = []
    private(set) var status: Int32 = 0
    /// A line of the output; nil: any output is as told.
    private(set) var says: String?

    /// Scripts/picture draws the first chapter.
    static let all = steps(of: String(decoding: PackageResources.steps_txt, as: UTF8.self))

    /// The lines that take the unlocked keys of a demo that was stopped out of the kernel's keyring. The unlock first
    /// finishes a change that was cut short.
    static let cleaning = ["keychainctl unlock", "keychainctl passcode remove --yes"].compactMap { line in
        all.first { $0.line == line }
    }

    /// - Parameter text: A line that begins with `#` is a chapter, and one without a sign is the title of a step. The
    ///   others belong to the step: `$` its command line, `>` an answer, `<` a line of its output, `=` its status.
    static func steps(of text: String) -> [DemoStep] {
        var steps: [DemoStep] = []
        var chapter = ""
        for line in text.split(separator: "\n") {
            let rest = String(line.dropFirst(2))
            switch line.prefix(2) {
            case "# ": chapter = rest
            case "$ ": steps[steps.count - 1].line = rest
            case "> ": steps[steps.count - 1].answers.append(rest)
            case "< ": steps[steps.count - 1].says = rest
            case "= ": steps[steps.count - 1].status = Int32(rest)!  // it is in our own text
            default: steps.append(DemoStep(chapter: chapter, title: String(line)))
            }
        }
        return steps
    }
}
