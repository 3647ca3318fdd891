internal import DataProtectionCore
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The work of `file protect` and `file unprotect`.
///
/// A run that was cut short at any point can be run again. It leaves the files that are done already.
struct Conversion: TreeOperation {
    private let direction: ConversionDirection
    private let files: ProtectedFiles
    private let run: TreeRun
    private let batch: ConversionBatch
    /// The files that are in the batch, each with the bytes of content that are done.
    private var waiting: [(file: TreeWalk.FoundFile, bytes: UInt64)] = []
    /// The files that were in the wanted form already, with another class than was asked for.
    private var ofOtherClass = 0

    init(_ direction: ConversionDirection, _ files: ProtectedFiles, _ run: TreeRun) {
        (self.direction, self.files, self.run) = (direction, files, run)
        batch = ConversionBatch(files)
        for directory in directoriesOfFiles { run.sweep(directory.path, files) }
    }

    var report: ConversionReport {
        ConversionReport(direction: direction, counts: run.counts, ofOtherClass: ofOtherClass)
    }

    func enter(_ directory: String, _: FileNumber?, below _: String) { run.sweep(directory, files) }

    mutating func perform(_ file: TreeWalk.FoundFile, below _: String) throws -> TreeRun.Outcome {
        // A file that is named twice has to be in its place first.
        if waiting.contains(where: { $0.file.number == file.number }) { publish() }
        if try files.isProtected(file.url) == direction.isProtecting { return try leave(file) }
        // The old file stays until the new one is whole, and other programs may have written to the disk meanwhile.
        try DiskSpace(at: parentDirectory(of: file.path))?.require(
            direction.sizeOfResult(for: file, files), for: file.path)
        guard try prepare(file) else { return try leave(file) }
        waiting.append((file, run.completed))
        if batch.isFull { publish() }
        return .waiting
    }

    private func prepare(_ file: TreeWalk.FoundFile) throws(DataProtectionError) -> Bool {
        switch direction {
        case .protect(let protection):
            try batch.protect(file.url, file.found, as: protection, size: file.size, progress: run.show)
        case .unprotect: try batch.unprotect(file.url, file.found, size: file.size, progress: run.show)
        }
    }

    /// Gives the files of the batch their places. Call it also at the end of the run.
    mutating func publish() {
        for ((file, bytes), failure) in zip(waiting, batch.publish()) {
            if let failure { run.fail(FileFailure(failure, path: file.path)) }
            run.end(file, as: failure == nil ? .done : .ignored, bytes: bytes)
        }
        waiting = []
        run.heedSignals()
    }

    /// Leaves a file that is in the wanted form already. Its class may be another one.
    private mutating func leave(_ file: TreeWalk.FoundFile) throws(DataProtectionError) -> TreeRun.Outcome {
        if case .protect(let wanted?) = direction, let present = try files.protection(of: file.url), present != wanted {
            ofOtherClass += 1
            run.note(
                "\(file.path): has class \(present.name) already and keeps it; "
                    + "'keychainctl file class --set \(wanted.name)' changes it")
        }
        return .left
    }

    /// The directories of the files that were named. The walk of a tree sweeps its own directories.
    private var directoriesOfFiles: Set<PathKey> {
        Set(
            run.walk.paths.compactMap { path in
                var status = stat()
                guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
                return PathKey(parentDirectory(of: path))
            })
    }
}

/// The directions of `file protect` and `file unprotect`.
enum ConversionDirection {
    /// nil: the class that the directory gives.
    case protect(FileProtection?)
    case unprotect

    var isProtecting: Bool {
        if case .protect = self { true } else { false }
    }

    var verb: String { isProtecting ? "protect" : "unprotect" }
    /// The words for files that are in the wanted form already.
    var leftInWords: String { isProtecting ? "protected already" : "plain already" }

    /// Whether a file is still to do.
    func isToDo(_ file: TreeWalk.FoundFile, _ files: ProtectedFiles) -> Bool {
        do throws(DataProtectionError) {
            return try files.isProtected(file.url) != isProtecting
        } catch {
            // The conversion of the file tells why it cannot be looked at.
            return false
        }
    }

    /// The most bytes of the new file. A hole in a protected file takes no space now, but the new file may take all the
    /// bytes that the header claims.
    func sizeOfResult(for file: TreeWalk.FoundFile, _ files: ProtectedFiles) -> UInt64 {
        if isProtecting { return ProtectedFiles.storedSize(ofContent: file.size) }
        do throws(DataProtectionError) {
            return max(file.size, try files.claimedLength(of: file.url))
        } catch {
            // The file is plain, or its conversion tells why it cannot be read.
            return file.size
        }
    }
}

struct ConversionReport: Report {
    static let fields: [Field<Self>] =
        [
            Field("protected", "how many files were encrypted", when: \.isProtecting) { $0.counts.done },
            Field("unprotected", "how many files were decrypted", when: { !$0.isProtecting }) { $0.counts.done },
            Field("bytes", "the number of bytes of their content") { $0.counts.bytes },
            Field("alreadyProtected", "how many files were protected already, and are left", when: \.isProtecting) {
                $0.counts.left
            },
            Field("plain", "how many files were plain already, and are left", when: { !$0.isProtecting }) {
                $0.counts.left
            },
            Field("otherClass", "how many of these files have a class other than `--class` says") { $0.ofOtherClass },
        ] + TreeCounts.fields.of(\.counts)

    let direction: ConversionDirection
    let counts: TreeCounts
    /// The number of files that were left with another class than was asked for.
    let ofOtherClass: Int

    private var isProtecting: Bool { direction.isProtecting }

    var text: String {
        counts.sentence(
            "\(counted(counts.done, "file")) \(direction.verb)ed (\(counts.size))", left: direction.leftInWords)
    }
}

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
                + "(\(ByteCount.text(plan.total.byteCount)))",
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
            "\(ByteCount.text(growth.magnitude)) \(growth < 0 ? "less" : "more")"
            + ", and up to \(ByteCount.text(secondTime)) for a while"
        let room = free.map { "\(ByteCount.text($0)) free: \(hasSpace ? "enough" : "not enough")" }
        return "\(TerminalText.escape(directory)): \(change); \(room ?? "the disk does not say what is free")\n"
    }
}
