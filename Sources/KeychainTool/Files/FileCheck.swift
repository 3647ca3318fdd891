internal import DataProtectionCore
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The work of `file fsck`.
struct FileCheck: TreeOperation {
    private let files: ProtectedFiles
    private let run: TreeRun
    private let salvage: SalvageDirectory?
    private let repairs: Bool
    /// Whether the reports on files wait for the end.
    private let keepsReports: Bool
    private var summary = FileCheckSummary()

    init(_ files: ProtectedFiles, _ run: TreeRun, salvage: String?, repairs: Bool, keepsReports: Bool) {
        (self.files, self.run, self.repairs, self.keepsReports) = (files, run, repairs, keepsReports)
        self.salvage = salvage.map(SalvageDirectory.init)
    }

    var report: FileCheckSummary {
        var report = summary
        report.counts = run.counts
        return report
    }

    mutating func perform(_ file: TreeWalk.FoundFile, below root: String) throws -> TreeRun.Outcome {
        do {
            // A file that a person names is meant to be protected.
            guard try file.isNamed || files.isProtected(file.url) else { return .plain }
            let report = try check(file, below: root)
            if report.check.findings.isEmpty { return .done }
            if keepsReports { summary.files.append(report) } else { try run.write(report.text) }
            return .done
        } catch let error as DataProtectionError where error.leavesUnchecked {
            throw FileFailure(error, path: file.path, prefix: "not checked: ")
        }
    }

    private mutating func check(_ file: TreeWalk.FoundFile, below root: String) throws -> FileCheckReport {
        var report = FileCheckReport(path: file.path, check: try files.check(file.url, progress: run.show))
        summary.checked += 1
        if repairs, report.check.canRepairHeader, try files.meaning(file.found).repairHeader(of: file.url) {
            report.afterRepair = try files.check(file.url, progress: run.show)
        }
        summary.states[report.state, default: 0] += 1
        guard let salvage, report.state == .damaged else { return report }
        // The damage is told of even if nothing can be saved.
        do {
            let target = salvage.place(of: file.path, below: root)
            guard let target else { throw FileFailure.nameIsNoText(file.path) }
            report.salvagedPath = try save(file, to: target, report.check)
            if report.salvagedPath != nil { summary.salvaged += 1 }
        } catch let error as DataProtectionError {
            run.fail(FileFailure(error, path: file.path))
        } catch let failure as FileFailure {
            run.fail(failure)
        }
        return report
    }

    /// - Returns: nil if the file has nothing to save.
    private func save(
        _ file: TreeWalk.FoundFile, to target: String, _ check: ProtectedFileCheck
    ) throws(DataProtectionError) -> String? {
        // A file without content to save gets no directory.
        guard check.readable > 0 || check.length == 0 else { return nil }
        try SalvageDirectory.makeDirectory(above: target)
        guard !run.walk.storeFiles.belong(in: FilePath.directory(of: target)) else {
            throw DataProtectionError(
                .unsupportedFile, file.path, "what is saved of it would lie among a keychain's files")
        }
        try DiskSpace(at: parentDirectory(of: target))?.require(
            ProtectedFiles.storedSize(ofContent: check.length ?? 0), for: file.path)
        let saved = try files.salvage(file.url, to: URL(namedByPerson: target), progress: run.show)
        return saved.isSalvaged ? target : nil
    }
}

extension DataProtectionError {
    fileprivate var leavesUnchecked: Bool { [.locked, .wrongKey, .newerFormat, .keysUnavailable].contains(code) }
}

struct FileCheckSummary: Report {
    static let fields: [Field<Self>] = [
        Field("checked", "how many protected files were checked") { $0.checked },
        Field("intact", "how many of them are intact") { $0.count(.intact) },
        Field("repaired", "how many of them were damaged, and are repaired") { $0.count(.repaired) },
        Field("damaged", "how many of them are damaged") { $0.count(.damaged) },
        Field("salvaged", "how many files were written anew") { $0.salvaged },
        Field("plain", "how many plain files were found in trees") { $0.counts.plain },
        TreeCounts.skipped.of(\.counts),
        // Locked files are among them.
        TreeCounts.failed.of(\.counts),
        Field("files", "an array of the files with findings: see below") { $0.files },
    ]

    var checked = 0
    var states: [FileCheckReport.State: Int] = [:]
    var salvaged = 0
    /// The reports on files with findings that were not told one by one.
    var files: [FileCheckReport] = []
    var counts = TreeCounts()

    func count(_ state: FileCheckReport.State) -> Int { states[state] ?? 0 }

    var text: String {
        clauses(
            "\(counted(checked, "protected file")) checked: \(outcome)", counts.failed.ifAny("could not be checked"),
            salvaged.ifAny("salvaged"), counts.plain == 0 ? nil : counted(counts.plain, "plain file"),
            counts.skippedInWords)
    }

    private var outcome: String {
        if checked > 0 && count(.intact) == checked { return checked == 1 ? "intact" : "all intact" }
        let parts = ["\(count(.intact)) intact", count(.repaired).ifAny("repaired"), "\(count(.damaged)) damaged"]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

/// The directory for the saved content of damaged files. A file keeps its own name, and a tree keeps its name and
/// shape.
struct SalvageDirectory {
    let directory: String

    /// - Parameter root: The path that the person named.
    /// - Returns: nil if the last name of the root is not UTF-8.
    func place(of path: String, below root: String) -> String? {
        FilePath.lastName(of: root).map { name in
            FilePath.join(FilePath.join(directory, name), FilePath.rest(of: path, below: root) ?? "")
        }
    }

    /// Makes the directories that are missing, for this user alone.
    static func makeDirectory(above path: String) throws(DataProtectionError) {
        let directory = FilePath.directory(of: path)
        guard directory != "/", directory != "." else { return }
        if mkdir(directory, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw .system("make the directory of", path) }
        try makeDirectory(above: directory)
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw .system("make the directory of", path) }
    }
}
