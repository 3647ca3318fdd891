internal import DataProtection
internal import Foundation
internal import KeychainModel
internal import KeychainSystem

/// One run of `file backup` or `file restore`.
///
/// A run that was cut short at any point can be run again. It leaves the files that are done already.
final class BackupRun {
    enum Work {
        case backUp(TreeCopy)
        case restoreInPlace(FileBackupKey)
        case restore(FileBackupKey, TreeCopy)
    }

    private(set) var report: BackupReport
    private(set) var failures = FileFailures()
    private let work: Work
    private let files: ProtectedFiles
    private let walk: TreeWalk
    private let signals: HeldSignals
    private let progress: FileProgress?
    /// The bytes of the present file that are done.
    private var completed: UInt64 = 0

    /// - Parameter signals: The command holds them from its start.
    init(_ work: Work, _ files: ProtectedFiles, _ walk: TreeWalk, _ signals: HeldSignals, isQuiet: Bool) {
        self.work = work
        self.files = files
        self.walk = walk
        self.signals = signals
        report = BackupReport(work)
        progress = isQuiet ? nil : FileProgress(work.isRestoring ? "Restoring" : "Backing up", over: walk)
    }

    func run() throws(FileFailure) {
        try work.copy?.begin()
        for path in walk.paths { visit(path) }
        progress?.end()
        report.leftovers = work.copy?.leftovers ?? 0
        report.failed = failures.count
    }

    private func visit(_ root: String) {
        let tree = TreeWalk(paths: [root], directories: walk.directories, storeFiles: walk.storeFiles)
        tree.visit { finding in
            heedSignals()
            switch finding {
            case .directory(let path, _):
                work.copy?.leave(before: path).forEach(fail)
                attempt { () throws(FileFailure) in try work.copy?.enter(path, below: root) }
            case .file(let path, let file):
                work.copy?.leave(before: path).forEach(fail)
                attempt { () throws(FileFailure) in
                    if work.copy?.isBlocked(path) != true { try deal(with: path, file, below: root) }
                }
                progress?.endFile(file.size)
            case .skipped(let kind): report.skipped[kind, default: 0] += 1
            case .failed(let failure): fail(failure)
            }
        }
        work.copy?.end().forEach(fail)
    }

    private func deal(
        with path: String, _ file: TreeWalk.FoundFile, below root: String
    ) throws(FileFailure) {
        let url = URL(namedByPerson: path)
        completed = 0
        do throws(DataProtectionError) {
            guard try files.isProtected(url) else {
                // A file that a person names is meant to be protected.
                if FilePath.isSame(path, root) { throw DataProtectionError(.notProtected, path, "") }
                return report.plain += 1
            }
            if try perform(url, path, file, root) {
                report.done += 1
                report.bytes += completed
            } else {
                report.left += 1
            }
        } catch {
            throw FileFailure(error, path: path)
        }
    }

    private func perform(
        _ url: URL, _ path: String, _ file: TreeWalk.FoundFile, _ root: String
    ) throws(DataProtectionError) -> Bool {
        switch work {
        case .backUp(let copy):
            try files.backUp(url, to: URL(namedByPerson: copy.place(of: path, below: root))) { [self] in show($0) }
        case .restore(let key, let copy):
            try files.restore(url, to: URL(namedByPerson: copy.place(of: path, below: root)), with: key) { [self] in
                show($0)
            }
        case .restoreInPlace(let key): try files.meaning(file.found).restore(url, with: key)
        }
    }

    private func attempt(_ body: () throws(FileFailure) -> Void) {
        do throws(FileFailure) { try body() } catch { fail(error) }
    }

    private func show(_ part: ProtectedFiles.Progress) {
        heedSignals()
        completed = part.completed
        progress?.show(completed)
    }

    private func fail(_ failure: FileFailure) {
        progress?.end()
        failures.add(failure)
    }

    private func heedSignals() {
        guard signals.arePending else { return }
        progress?.end()
        if signals.isEndPending { ProtectedFiles.removeUnfinished() }
        signals.deliver()
    }
}

extension BackupRun.Work {
    /// nil: files are restored where they are.
    fileprivate var copy: TreeCopy? {
        switch self {
        case .backUp(let copy), .restore(_, let copy): copy
        case .restoreInPlace: nil
        }
    }

    fileprivate var isRestoring: Bool { if case .backUp = self { false } else { true } }
}

struct BackupReport {
    private let isRestoring: Bool
    private let isInPlace: Bool
    var done = 0
    /// The bytes of ciphertext in the copied files.
    var bytes: UInt64 = 0
    /// The files that were done already.
    var left = 0
    var plain = 0
    var skipped: [TreeWalk.Skipped: Int] = [:]
    var failed = 0
    /// The removed files of killed programs.
    var leftovers = 0

    fileprivate init(_ work: BackupRun.Work) {
        isRestoring = work.isRestoring
        isInPlace = work.copy == nil
    }

    var text: String {
        let size = isInPlace ? "" : " (\(ByteCount.text(Int64(clamping: bytes))))"
        var parts = ["\(counted(done, "file")) \(isRestoring ? "restored" : "copied")\(size)"]
        if left > 0 { parts.append("\(left) \(leftText)") }
        if plain > 0 { parts.append("\(counted(plain, "plain file")) left out") }
        let kinds = TreeWalk.Skipped.text(skipped)
        if !kinds.isEmpty { parts.append("skipped: " + kinds) }
        if leftovers > 0 { parts.append("\(counted(leftovers, "unfinished file")) of killed programs removed") }
        if failed > 0 { parts.append("\(failed) failed") }
        return parts.joined(separator: "; ")
    }

    private var leftText: String {
        if !isRestoring { return "unchanged" }
        return isInPlace ? "of this keychain already" : "there already"
    }

    var json: JSONValue {
        .object([
            (isRestoring ? "restored" : "copied", .number(Int64(done))), ("bytes", .number(Int64(clamping: bytes))),
            (isRestoring ? "alreadyRestored" : "unchanged", .number(Int64(left))), ("plain", .number(Int64(plain))),
            ("skipped", TreeWalk.Skipped.json(skipped)), ("leftovers", .number(Int64(leftovers))),
            ("failed", .number(Int64(failed))),
        ])
    }
}
