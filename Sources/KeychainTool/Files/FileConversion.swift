internal import DataProtection
internal import Foundation
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// One run of `file protect` or `file unprotect`.
///
/// Cut short at any point, it can be run again: what is done already is left then.
final class FileConversion {
    private(set) var report: ConversionReport
    private(set) var failures = FileFailures()
    private let direction: ConversionDirection
    private let files: ProtectedFiles
    private let walk: TreeWalk
    /// Those that are to end the program.
    private let signals: HeldSignals
    private let isQuiet: Bool
    private var progress: FileProgress?
    private let batch: ConversionBatch
    /// The files that are in the batch.
    private var waiting: [Waiting] = []

    private struct Waiting {
        let path: String
        let file: TreeWalk.FoundFile
        /// Bytes of content.
        let completed: UInt64
    }

    /// - Parameter signals: Held since before there was a thread.
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

    /// - Throws: if the disk has not enough space for all; nothing was done then.
    func run() throws(FileFailure) {
        let plan = ConversionPlan(walk, direction, files)
        try plan.requireSpace { [files, walk, direction] in
            // Those that are done already, by a run that was cut short, need none. Looking at each takes longer.
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
                // What keeps it from being looked at is told when its turn comes.
                return false
            }
        }
    }

    private func convert(_ path: String, _ file: TreeWalk.FoundFile) throws(FileFailure) {
        // One that is named twice is done by then.
        if waiting.contains(where: { $0.file.number == file.number }) { publish() }
        let url = URL(namedByPerson: path)
        var completed: UInt64 = 0
        do throws(DataProtectionError) {
            if try files.isProtected(url) == direction.isProtecting { return try leave(path, url, file) }
            // The old file stays until the new one is whole, and others may have written to the disk meanwhile.
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

    /// It is as it is to be; its class may be another one.
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

    /// Those of the files that were named: what is found in a tree has its own.
    private var directoriesOfFiles: Set<PathKey> {
        Set(
            walk.paths.compactMap { path in
                var status = stat()
                guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
                return PathKey(parentDirectory(of: path))
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
