internal import DataProtection
internal import Foundation
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// One run of `file protect` or `file unprotect`.
///
/// A run that was cut short at any point can be run again. It leaves the files that are done already.
final class FileConversion {
    private(set) var report: ConversionReport
    private(set) var failures = FileFailures()
    private let direction: ConversionDirection
    private let files: ProtectedFiles
    private let walk: TreeWalk
    private let signals: HeldSignals
    private let isQuiet: Bool
    private var progress: FileProgress?
    private let batch: ConversionBatch
    /// The files that are in the batch.
    private var waiting: [Waiting] = []

    private struct Waiting {
        let path: String
        let file: TreeWalk.FoundFile
        /// The bytes of content that are done.
        let completed: UInt64
    }

    /// - Parameter signals: The command holds them from its start.
    init(
        _ direction: ConversionDirection, _ files: ProtectedFiles, _ walk: TreeWalk, _ signals: HeldSignals,
        isQuiet: Bool
    ) {
        self.direction = direction
        self.files = files
        self.walk = walk
        self.signals = signals
        self.isQuiet = isQuiet
        report = ConversionReport(isProtecting: direction.isProtecting)
        batch = ConversionBatch(files)
    }

    /// - Throws: if the disk has too little space for all. Then nothing was done.
    func run() throws(FileFailure) {
        let plan = ConversionPlan(walk, direction, files)
        try plan.requireSpace { [files, walk, direction] in
            // A file that an earlier run has done needs no space. A look at each file takes longer.
            ConversionPlan(walk, direction, files, isToDo: Self.isToDo(files, direction))
        }
        progress = isQuiet ? nil : FileProgress(direction.isProtecting ? "Protecting" : "Unprotecting", plan.total)
        for directory in directoriesOfFiles { sweep(directory.path) }
        walk.visit { finding in
            heedSignals()
            switch finding {
            case .directory(let path, _): sweep(path)
            case .file(let path, let file):
                do throws(FileFailure) {
                    try convert(path, file)
                } catch {
                    fail(error)
                    progress?.endFile(file.size)
                }
                if batch.isFull { publish() }
            case .skipped(let kind): report.skipped[kind, default: 0] += 1
            case .failed(let failure): fail(failure)
            }
        }
        publish()
        progress?.end()
        report.failed = failures.count
    }

    static func isToDo(_ files: ProtectedFiles, _ direction: ConversionDirection) -> (String) -> Bool {
        { path in
            do throws(DataProtectionError) {
                return try files.isProtected(URL(namedByPerson: path)) != direction.isProtecting
            } catch {
                // The conversion of the file tells why it cannot be looked at.
                return false
            }
        }
    }

    private func convert(_ path: String, _ file: TreeWalk.FoundFile) throws(FileFailure) {
        // A file that is named twice has to be in its place first.
        if waiting.contains(where: { $0.file.number == file.number }) { publish() }
        let url = URL(namedByPerson: path)
        var completed: UInt64 = 0
        do throws(DataProtectionError) {
            if try files.isProtected(url) == direction.isProtecting { return try leave(path, url, file) }
            // The old file stays until the new one is whole, and other programs may have written to the disk meanwhile.
            try DiskSpace.require(direction.sizeOfResult(for: file, url, files), at: path, for: path)
            let isPrepared = try prepare(url, file) { [self] part in
                heedSignals()
                completed = part.completed
                progress?.show(completed)
            }
            guard isPrepared else { return try leave(path, url, file) }
        } catch {
            throw FileFailure(error, path: path)
        }
        waiting.append(Waiting(path: path, file: file, completed: completed))
    }

    private func prepare(
        _ url: URL, _ file: TreeWalk.FoundFile, _ show: (ProtectedFiles.Progress) -> Void
    ) throws(DataProtectionError) -> Bool {
        switch direction {
        case .protect(let protection):
            try batch.protect(url, file.found, as: protection, size: file.size, progress: show)
        case .unprotect: try batch.unprotect(url, file.found, size: file.size, progress: show)
        }
    }

    /// Gives the files of the batch their places.
    private func publish() {
        for (file, failure) in zip(waiting, batch.publish()) {
            if let failure {
                fail(FileFailure(failure, path: file.path))
            } else {
                report.converted += 1
                report.bytes += file.completed
            }
            progress?.endFile(file.file.size)
        }
        waiting = []
        heedSignals()
    }

    /// Leaves a file that is in the wanted form already. Its class may be another one.
    private func leave(
        _ path: String, _ url: URL, _ file: TreeWalk.FoundFile
    ) throws(DataProtectionError) {
        report.left += 1
        progress?.endFile(file.size)
        guard case .protect(let wanted?) = direction, let present = try files.protection(of: url), present != wanted
        else { return }
        report.ofOtherClass += 1
        progress?.end()
        Console.note(
            "\(path): has class \(FileClassName(present).rawValue) already and keeps it; "
                + "'keychainctl file class --set \(FileClassName(wanted).rawValue)' changes it")
    }

    private func fail(_ failure: FileFailure) {
        progress?.end()
        failures.add(failure)
    }

    // MARK: Before and after a kill

    /// The directories of the files that were named. The walk of a tree sweeps its own directories.
    private var directoriesOfFiles: Set<PathKey> {
        Set(
            walk.paths.compactMap { path in
                var status = stat()
                guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
                return PathKey(parentDirectory(of: path))
            })
    }

    private func sweep(_ directory: String) {
        // A failure to remove the files of killed programs does no harm.
        report.leftovers += (try? files.removeLeftovers(in: URL(namedByPerson: directory))) ?? 0
    }

    private func heedSignals() {
        guard signals.arePending else { return }
        progress?.end()
        // The program ends with the delivery of such a signal. Its unfinished file may have content in the clear.
        if signals.isEndPending { ProtectedFiles.removeUnfinished() }
        signals.deliver()
    }
}

struct ConversionReport {
    let isProtecting: Bool
    var converted = 0
    /// The bytes of content in the converted files.
    var bytes: UInt64 = 0
    /// The files that were in the wanted form already.
    var left = 0
    /// The number of files in ``left`` with another class than was asked for.
    var ofOtherClass = 0
    var skipped: [TreeWalk.Skipped: Int] = [:]
    var failed = 0
    /// The removed files of killed programs.
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
