internal import DataProtection
internal import Glibc
internal import KeychainModel

/// The report of `file protect --dry-run` and `file unprotect --dry-run`.
final class ConversionRehearsal {
    private let direction: ConversionDirection
    private let files: ProtectedFiles
    private let walk: TreeWalk
    private(set) var failures = FileFailures()
    private var skipped: [TreeWalk.Skipped: Int] = [:]
    private var left = 0
    private var plan: ConversionPlan

    init(_ direction: ConversionDirection, _ files: ProtectedFiles, _ walk: TreeWalk) {
        self.direction = direction
        self.files = files
        self.walk = walk
        plan = ConversionPlan(direction, files)
    }

    func run(listsFiles: Bool) throws {
        let isToDo = FileConversion.isToDo(files, direction)
        try walk.visit { finding in
            switch finding {
            case .directory: break
            case .file(let path, let file) where file.nameCount > 1:
                failures.add(FileFailure(path, .parameter, "it has \(file.nameCount) names (hard links)"))
            case .file(let path, let file) where isToDo(path):
                plan.add(path, file)
                if listsFiles { try Console.write("would \(verb) \(TerminalText.escape(path))\n") }
            case .file: left += 1
            case .skipped(let kind): skipped[kind, default: 0] += 1
            case .failed(let failure): failures.add(failure)
            }
        }
    }

    private var verb: String { direction.isProtecting ? "protect" : "unprotect" }

    // MARK: Words

    var text: String {
        var parts = [
            "would \(verb) \(counted(plan.total.fileCount, "file")) (\(ConversionPlan.text(plan.total.byteCount)))"
        ]
        if left > 0 { parts.append("\(left) \(direction.isProtecting ? "protected already" : "plain already")") }
        let kinds = TreeWalk.Skipped.text(skipped)
        if !kinds.isEmpty { parts.append("skipped: " + kinds) }
        return parts.joined(separator: "; ") + "\n" + disks.map { text(of: $0) + "\n" }.joined()
    }

    private var disks: [ConversionPlan.Disk] { plan.disks.values.sorted { $0.directory < $1.directory } }

    private func text(of disk: ConversionPlan.Disk) -> String {
        let (growth, free) = (disk.growth, disk.free)
        let change =
            "\(ConversionPlan.text(growth.magnitude)) \(growth < 0 ? "less" : "more")"
            + ", and up to \(ConversionPlan.text(disk.secondTime)) for a while"
        let room = free.map { "\(ConversionPlan.text($0)) free: \(disk.hasSpace ? "enough" : "not enough")" }
        return "\(TerminalText.escape(disk.directory)): \(change); \(room ?? "the disk does not say what is free")"
    }

    // MARK: JSON

    var json: JSONValue {
        .object([
            ("dryRun", .boolean(true)), ("files", .number(Int64(plan.total.fileCount))),
            ("bytes", .number(Int64(clamping: plan.total.byteCount))),
            (direction.isProtecting ? "alreadyProtected" : "plain", .number(Int64(left))),
            ("skipped", TreeWalk.Skipped.json(skipped)),
            (
                "disks",
                .array(
                    disks.map { disk in
                        .object([
                            ("path", .string(disk.directory)), ("growth", .number(disk.growth)),
                            ("secondTime", .number(Int64(clamping: disk.secondTime))),
                            ("free", disk.free.map { .number(Int64(clamping: $0)) } ?? .null),
                            ("enough", .boolean(disk.hasSpace)),
                        ])
                    })
            ),
            ("failed", .number(Int64(failures.count))),
        ])
    }
}
