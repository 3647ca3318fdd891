internal import DataProtection
internal import Foundation
internal import Glibc
internal import KeychainModel

/// One run of `file protect` or `file unprotect`.
///
/// Cut short at any point, it can be run again: what is done already is left then.
final class FileConversion {
    enum Direction {
        /// nil: the class that the directory gives.
        case protect(FileProtection?)
        case unprotect
    }

    private(set) var report: ConversionReport
    private(set) var failures = FileFailures()
    private let direction: Direction
    private let files: ProtectedFiles
    private let walk: TreeWalk
    /// Those that are to end the program.
    private let signals: HeldSignals
    private let progress: FileProgress?
    /// Of the content of the present file.
    private var completed: UInt64 = 0

    /// - Parameter signals: Held since before there was a thread.
    init(_ direction: Direction, _ files: ProtectedFiles, _ walk: TreeWalk, _ signals: HeldSignals, isQuiet: Bool) {
        self.direction = direction
        self.files = files
        self.walk = walk
        self.signals = signals
        report = ConversionReport(isProtecting: direction.isProtecting)
        progress = isQuiet ? nil : FileProgress(direction.isProtecting ? "Protecting" : "Unprotecting", over: walk)
    }

    func run() {
        for directory in directoriesOfFiles { sweep(directory) }
        walk.visit { finding in
            heedSignals()
            switch finding {
            case .directory(let path): sweep(path)
            case .file(let path, let size):
                do throws(FileFailure) {
                    try convert(path, size)
                } catch {
                    fail(error)
                }
                progress?.endFile(size)
            case .skipped(let kind): report.skipped[kind, default: 0] += 1
            case .failed(let failure): fail(failure)
            }
        }
        progress?.end()
        report.failed = failures.count
    }

    private func convert(_ path: String, _ size: UInt64) throws(FileFailure) {
        let url = URL(namedByPerson: path)
        do throws(DataProtectionError) {
            if try files.isProtected(url) == direction.isProtecting { return try leave(path, url) }
            try requireSpace(for: size, path)
            completed = 0
            guard try convert(url) else { return try leave(path, url) }
        } catch {
            throw FileFailure(error, path: path)
        }
        report.converted += 1
        report.bytes += completed
    }

    private func convert(_ url: URL) throws(DataProtectionError) -> Bool {
        switch direction {
        case .protect(let protection):
            try files.protect(url, as: protection) { [self] in show($0) }
        case .unprotect:
            try files.unprotect(url) { [self] in show($0) }
        }
    }

    private func show(_ part: ProtectedFiles.Progress) {
        heedSignals()
        completed = part.completed
        progress?.show(completed)
    }

    /// It is as it is to be; its class may be another one.
    private func leave(_ path: String, _ url: URL) throws(DataProtectionError) {
        report.left += 1
        guard case .protect(let wanted?) = direction, let present = try files.protection(of: url), present != wanted
        else { return }
        report.ofOtherClass += 1
        progress?.end()
        Console.note(
            "\(path): has class \(FileClassName(present).rawValue) already and keeps it; "
                + "'keychain file class --set \(FileClassName(wanted).rawValue)' changes it")
    }

    private func fail(_ failure: FileFailure) {
        progress?.end()
        failures.add(failure)
    }

    // MARK: Before and after a kill

    /// Those of the files that were named: what is found in a tree has its own.
    private var directoriesOfFiles: Set<String> {
        Set(
            walk.paths.compactMap { path in
                var status = stat()
                guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
                return TreeWalk.parent(of: path)
            })
    }

    private func sweep(_ directory: String) {
        // What cannot be removed is in nobody's way.
        report.leftovers += (try? files.removeLeftovers(in: URL(namedByPerson: directory))) ?? 0
    }

    private func heedSignals() {
        guard signals.arePending else { return }
        progress?.end()
        // The program ends here: what it has written so far may be content in clear.
        if signals.isEndPending { ProtectedFiles.removeUnfinished() }
        signals.deliver()
    }

    /// The old file stays until the new one is whole.
    private func requireSpace(for size: UInt64, _ path: String) throws(DataProtectionError) {
        var status = statvfs()
        guard statvfs(TreeWalk.parent(of: path), &status) == 0 else { return }
        // Some file systems that are programs say that there is as much as the number holds.
        let (free, isMore) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        if isMore { return }
        // The header, and 0.4 % for the nodes (docs/file-format.md, "Tree").
        let needed = size + size / 200 + 8192
        guard free < needed else { return }
        throw DataProtectionError(
            .system, path,
            "the disk has \(ByteCount.text(Int64(clamping: free))) free, and the file takes "
                + "\(ByteCount.text(Int64(clamping: needed))) a second time until it is done",
            errno: ENOSPC)
    }
}

extension FileConversion.Direction {
    var isProtecting: Bool {
        if case .protect = self { true } else { false }
    }
}

/// What `file protect` and `file unprotect` did.
struct ConversionReport {
    let isProtecting: Bool
    var converted = 0
    /// Of content, of the files converted.
    var bytes: UInt64 = 0
    /// Those that were as they were to be.
    var left = 0
    /// Of those, the ones with another class than was asked for.
    var ofOtherClass = 0
    var skipped: [TreeWalk.Skipped: Int] = [:]
    var failed = 0
    /// What killed programs had left.
    var leftovers = 0

    init(isProtecting: Bool) { self.isProtecting = isProtecting }

    var text: String {
        let word = isProtecting ? "protected" : "unprotected"
        var parts = ["\(counted(converted, "file")) \(word) (\(ByteCount.text(Int64(clamping: bytes))))"]
        if left > 0 { parts.append("\(left) \(isProtecting ? "protected already" : "plain already")") }
        let kinds = TreeWalk.Skipped.text(skipped)
        if !kinds.isEmpty { parts.append("skipped: " + kinds) }
        if leftovers > 0 { parts.append("\(counted(leftovers, "unfinished file")) of killed programs removed") }
        if failed > 0 { parts.append("\(failed) failed") }
        return parts.joined(separator: "; ")
    }

    var json: JSONValue {
        .object([
            (isProtecting ? "protected" : "unprotected", .number(Int64(converted))),
            ("bytes", .number(Int64(clamping: bytes))),
            (isProtecting ? "alreadyProtected" : "plain", .number(Int64(left))),
            ("otherClass", .number(Int64(ofOtherClass))),
            ("skipped", TreeWalk.Skipped.json(skipped)),
            ("leftovers", .number(Int64(leftovers))), ("failed", .number(Int64(failed))),
        ])
    }
}
