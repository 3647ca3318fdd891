internal import ArgumentParser
internal import DataProtectionCore
internal import FoundationEssentials
internal import KeychainSystem

/// The work of a command on each file of a ``TreeRun``.
///
/// A method that throws a ``FileFailure`` or a `DataProtectionError` fails for that file or directory alone.
protocol TreeOperation {
    /// A directory comes before its content.
    ///
    /// - Parameters:
    ///   - found: The directory that a change is for; nil: the one that the path leads to.
    ///   - root: The path that the person named.
    mutating func enter(_ directory: String, _ found: FileNumber?, below root: String) throws
    mutating func perform(_ file: TreeWalk.FoundFile, below root: String) throws -> TreeRun.Outcome
    /// The end of a file or tree that the person named.
    mutating func leave(_ root: String)
}

extension TreeOperation {
    func enter(_: String, _: FileNumber?, below _: String) {}
    func leave(_: String) {}
}

/// One run of a command over files and trees: the signals, the progress, the failures and the counts.
///
/// The run goes on after the failure of a file, and every run can be cut short between two files.
final class TreeRun {
    enum Outcome {
        case done, left, plain
        /// The file counts for nothing.
        case ignored
        /// The operation calls ``end(_:as:bytes:)`` later.
        case waiting
    }

    private(set) var counts = TreeCounts()
    let walk: TreeWalk
    /// nil: a signal takes effect at once.
    private let signals: HeldSignals?
    private var progress: FileProgress?
    private var firstStatus: Int32?
    /// The bytes of the present file that are done.
    private(set) var completed: UInt64 = 0

    private init(_ walk: TreeWalk, _ signals: HeldSignals?) { (self.walk, self.signals) = (walk, signals) }

    /// Opens the keychain, and holds the signals before any thread starts.
    ///
    /// - Parameter holdsSignals: Whether a file must not be left in the midst of the work.
    /// - Throws: the status of the first failure, which was told already.
    static func start(
        _ store: StoreOptions, _ arguments: PathArguments, _ directories: TreeWalk.Directories,
        holdsSignals: Bool = true, _ body: (KeychainSession, TreeRun) throws -> Void
    ) throws {
        let signals = holdsSignals ? HeldSignals() : nil
        defer { signals?.release() }
        let session = try KeychainSession(store)
        let walk = TreeWalk(paths: arguments.paths, directories: directories, storeFiles: StoreFiles(session))
        let run = TreeRun(walk, signals)
        try body(session, run)
        run.progress?.end()
        if let status = run.firstStatus { throw ExitCode(status) }
    }

    /// - Parameters:
    ///   - title: The words before the progress; nil: no progress is shown.
    ///   - total: The files; nil: they are counted first, if a person sees the progress.
    func perform(_ operation: inout some TreeOperation, _ title: String?, of total: FileTotal? = nil) throws {
        progress = title.map { title in
            FileProgress(title, total ?? (Console.errorIsTerminal ? FileTotal(of: walk) : FileTotal()))
        }
        for root in walk.paths {
            try walk.visit(root) { finding in
                heedSignals()
                switch finding {
                case .directory(let path, let found):
                    try attempt(path) { try operation.enter(path, found, below: root) }
                case .file(let file):
                    completed = 0
                    var outcome = Outcome.ignored
                    try attempt(file.path) { outcome = try operation.perform(file, below: root) }
                    end(file, as: outcome, bytes: completed)
                case .skipped(let kind): counts.skipped[kind, default: 0] += 1
                case .failed(let failure): fail(failure)
                }
            }
            operation.leave(root)
        }
    }

    private func attempt(_ path: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DataProtectionError {
            fail(FileFailure(error, path: path))
        } catch let failure as FileFailure {
            fail(failure)
        }
    }

    // MARK: For operations

    func show(_ part: ProtectedFiles.Progress) {
        heedSignals()
        completed = part.completed
        progress?.show(completed)
    }

    /// Counts a file.
    ///
    /// - Parameter bytes: The bytes that were done of it.
    func end(_ file: TreeWalk.FoundFile, as outcome: Outcome, bytes: UInt64) {
        switch outcome {
        case .done:
            counts.done += 1
            counts.bytes += bytes
        case .left: counts.left += 1
        case .plain: counts.plain += 1
        case .ignored: break
        case .waiting: return
        }
        progress?.endFile(file.size)
    }

    func fail(_ failure: FileFailure) {
        progress?.end()
        Console.complain(failure.text)
        firstStatus = firstStatus ?? failure.status
        counts.failed += 1
    }

    func note(_ message: String) {
        progress?.end()
        Console.note(message)
    }

    func write(_ text: String) throws(ToolFailure) {
        progress?.end()
        try Console.write(text)
    }

    /// Removes the files of killed programs from a directory.
    func sweep(_ directory: String, _ files: ProtectedFiles) {
        counts.leftovers += files.removeAllLeftovers(in: directory)
    }

    func heedSignals() {
        guard let signals, signals.arePending else { return }
        progress?.end()
        // The program ends with the delivery of such a signal. Its unfinished file may have content in the clear.
        if signals.isEndPending { ProtectedFiles.removeUnfinished() }
        signals.deliver()
    }

    func tell(_ report: some Report, json: Bool, quiet: Bool = false) throws {
        progress?.end()
        if json || !quiet { try report.write(json: json) }
    }
}

extension ProtectedFiles {
    /// - Returns: the number of removed files. A failure to remove them does no harm.
    func removeAllLeftovers(in directory: String) -> Int {
        (try? removeLeftovers(in: URL(namedByPerson: directory))) ?? 0
    }
}
