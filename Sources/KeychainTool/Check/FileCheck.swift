internal import DataProtection
internal import Foundation
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// One run of `file fsck`.
final class FileCheck {
    struct Options {
        var salvageDirectory: String?
        var repairs: Bool
        var isQuiet: Bool
        var printsJSON: Bool
    }

    private(set) var summary = FileCheckSummary()
    /// The reports on files with findings, kept only for JSON.
    private(set) var reports: [FileCheckReport] = []
    private(set) var failures = FileFailures()
    private let files: ProtectedFiles
    private let walk: TreeWalk
    private let signals: HeldSignals
    private let options: Options
    private let salvage: SalvageDirectory?
    private let progress: FileProgress?

    /// - Parameter signals: The command holds them from its start.
    init(_ files: ProtectedFiles, _ walk: TreeWalk, _ signals: HeldSignals, _ options: Options) {
        self.files = files
        self.walk = walk
        self.signals = signals
        self.options = options
        salvage = options.salvageDirectory.map { SalvageDirectory($0, of: walk.paths) }
        progress = options.isQuiet ? nil : FileProgress("Checking", over: walk)
    }

    func run() throws {
        try walk.visit { finding in
            heedSignals()
            switch finding {
            case .directory: break
            case .file(let path, let file):
                do {
                    if let report = try check(path, file) { try tell(report) }
                } catch let failure as FileFailure {
                    fail(failure)
                }
                progress?.endFile(file.size)
            case .skipped(let kind): summary.skipped[kind, default: 0] += 1
            case .failed(let failure): fail(failure)
            }
        }
        progress?.end()
        summary.failed = failures.count
    }

    /// - Returns: nil if there is nothing to report.
    private func check(_ path: String, _ file: TreeWalk.FoundFile) throws(FileFailure) -> FileCheckReport? {
        let url = URL(namedByPerson: path)
        do throws(DataProtectionError) {
            // A file that a person names is meant to be protected.
            if !walk.paths.contains(where: { FilePath.isSame($0, path) }) {
                guard try files.isProtected(url) else {
                    summary.plain += 1
                    return nil
                }
            }
            var report = FileCheckReport(path, try files.check(url) { [self] in show($0) })
            summary.checked += 1
            if options.repairs, report.check.canRepairHeader, try files.meaning(file.found).repairHeader(of: url) {
                report.afterRepair = try files.check(url) { [self] in show($0) }
            }
            if let salvage, report.state == .damaged {
                guard let target = salvage.place(of: path) else {
                    throw DataProtectionError(.unsupportedFile, path, "its name is not UTF-8 text: rename it first")
                }
                report.salvagedPath = try save(url, to: target, path, report.check)
            }
            count(report)
            return report.check.findings.isEmpty ? nil : report
        } catch {
            throw FileFailure(error, path: path, prefix: Self.isUnchecked(error) ? "not checked: " : "")
        }
    }

    private static func isUnchecked(_ error: DataProtectionError) -> Bool {
        [.locked, .wrongKey, .newerFormat, .keysUnavailable].contains(error.code)
    }

    /// - Returns: nil if the file has nothing to save.
    private func save(
        _ url: URL, to target: String, _ path: String, _ check: ProtectedFileCheck
    ) throws(DataProtectionError) -> String? {
        // A file without content to save gets no directory.
        guard check.readable > 0 || check.length == 0 else { return nil }
        try SalvageDirectory.makeDirectory(above: target)
        guard !walk.storeFiles.belong(in: FilePath.directory(of: target)) else {
            throw DataProtectionError(.unsupportedFile, path, "what is saved of it would lie among a keychain's files")
        }
        try DiskSpace.require(ProtectedFiles.storedSize(ofContent: check.length ?? 0), at: target, for: path)
        return try files.salvage(url, to: URL(namedByPerson: target)) { [self] in show($0) }.isSalvaged ? target : nil
    }

    private func count(_ report: FileCheckReport) {
        switch report.state {
        case .intact: summary.intact += 1
        case .repaired: summary.repaired += 1
        case .damaged: summary.damaged += 1
        }
        if report.salvagedPath != nil { summary.salvaged += 1 }
    }

    private func tell(_ report: FileCheckReport) throws {
        if options.printsJSON {
            reports.append(report)
        } else {
            progress?.end()
            try Console.write(report.text)
        }
    }

    private func fail(_ failure: FileFailure) {
        progress?.end()
        failures.add(failure)
    }

    private func show(_ part: ProtectedFiles.Progress) {
        heedSignals()
        progress?.show(part.completed)
    }

    private func heedSignals() {
        guard signals.arePending else { return }
        progress?.end()
        // The program ends with the delivery of such a signal.
        if signals.isEndPending { ProtectedFiles.removeUnfinished() }
        signals.deliver()
    }
}
