internal import DataProtectionCore
internal import KeychainModel

/// The work of `file protect --dry-run` and `file unprotect --dry-run`.
struct ConversionRehearsal: TreeOperation {
    private let direction: ConversionDirection
    private let files: ProtectedFiles
    private let run: TreeRun
    private let listsFiles: Bool
    private var plan: ConversionPlan

    init(_ direction: ConversionDirection, _ files: ProtectedFiles, _ run: TreeRun, listsFiles: Bool) {
        (self.direction, self.files, self.run, self.listsFiles) = (direction, files, run, listsFiles)
        plan = ConversionPlan(direction, files)
    }

    var report: RehearsalReport {
        RehearsalReport(direction: direction, counts: run.counts, plan: plan)
    }

    mutating func perform(_ file: TreeWalk.FoundFile, below _: String) throws -> TreeRun.Outcome {
        guard file.nameCount == 1 else {
            throw FileFailure(file.path, .parameter, "it has \(file.nameCount) names (hard links)")
        }
        guard direction.isToDo(file, files) else { return .left }
        plan.add(file)
        if listsFiles { try run.write("would \(direction.verb) \(TerminalText.escape(file.path))\n") }
        return .done
    }
}

struct RehearsalReport: Report {
    static let fields: [Field<Self>] = [
        Field("dryRun", "true") { _ in true },
        Field("files", "how many files would be converted") { $0.plan.total.fileCount },
        Field("bytes", "how many bytes they hold") { $0.plan.total.byteCount },
        Field("alreadyProtected", "as above", when: \.direction.isProtecting) { $0.counts.left },
        Field("plain", "as above", when: { !$0.direction.isProtecting }) { $0.counts.left },
        TreeCounts.skipped.of(\.counts),
        Field(
            "disks",
            "an array, for each file system: `path`, a directory on it; `growth`, how many bytes more all files take when "
                + "they are done (fewer, if negative); `secondTime`, how many bytes more they take for a while; `free`, or "
                + "null; `enough`"
        ) { $0.plan.sortedDisks },
        TreeCounts.failed.of(\.counts),
    ]

    let direction: ConversionDirection
    let counts: TreeCounts
    let plan: ConversionPlan

    var text: String {
        clauses(
            "would \(direction.verb) \(counted(plan.total.fileCount, "file")) "
                + "(\(ConversionPlan.text(plan.total.byteCount)))",
            counts.left.ifAny(direction.leftInWords), counts.skippedInWords)
            + plan.sortedDisks.map(\.text).joined()
    }
}

extension ConversionPlan.Disk: Report {
    static let fields: [Field<Self>] = [
        Field("path", "a directory on it") { $0.directory },
        Field("growth", "how many bytes more all files take when they are done (fewer, if negative)") { $0.growth },
        Field("secondTime", "how many bytes more they take for a while") { $0.secondTime },
        Field("free", "how many bytes are free, or null") { $0.free },
        Field("enough", "whether they are enough") { $0.hasSpace },
    ]

    var text: String {
        let change =
            "\(ConversionPlan.text(growth.magnitude)) \(growth < 0 ? "less" : "more")"
            + ", and up to \(ConversionPlan.text(secondTime)) for a while"
        let room = free.map { "\(ConversionPlan.text($0)) free: \(hasSpace ? "enough" : "not enough")" }
        return "\(TerminalText.escape(directory)): \(change); \(room ?? "the disk does not say what is free")\n"
    }
}
