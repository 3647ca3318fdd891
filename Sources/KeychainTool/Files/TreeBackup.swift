internal import DataProtectionCore
internal import KeychainModel
internal import KeychainSystem

/// The work of `file backup` and `file restore`.
///
/// A run that was cut short at any point can be run again. It leaves the files that are done already.
struct TreeBackup: TreeOperation {
    enum Work {
        case backUp(TreeCopy)
        /// Without a copy files are restored where they are.
        case restore(FileBackupKey, TreeCopy?)
    }

    let work: Work
    let files: ProtectedFiles
    let run: TreeRun

    private var copy: TreeCopy? {
        switch work {
        case .backUp(let copy): copy
        case .restore(_, let copy): copy
        }
    }

    func enter(_ directory: String, _: FileNumber?, below root: String) throws {
        try copy?.enter(directory, below: root)
    }

    func perform(_ file: TreeWalk.FoundFile, below root: String) throws -> TreeRun.Outcome {
        copy?.leave(before: file.path)
        if copy?.isBlocked(file.path) == true { return .ignored }
        guard try files.isProtected(file.url) else {
            // A file that a person names is meant to be protected.
            if file.isNamed { throw DataProtectionError(.notProtected, file.path, "") }
            return .plain
        }
        return try isDone(file, below: root) ? .done : .left
    }

    /// - Returns: false if the file was done before.
    private func isDone(_ file: TreeWalk.FoundFile, below root: String) throws(DataProtectionError) -> Bool {
        switch work {
        case .backUp(let copy):
            try files.backUp(file.url, to: copy.place(of: file, below: root), progress: run.show)
        case .restore(let key, let copy?):
            try files.restore(file.url, to: copy.place(of: file, below: root), with: key, progress: run.show)
        case .restore(let key, nil): try files.meaning(file.found).restore(file.url, with: key)
        }
    }

    func leave(_: String) { copy?.end() }

    var report: BackupReport {
        var isRestoring: Bool { if case .restore = work { true } else { false } }
        return BackupReport(isRestoring: isRestoring, isInPlace: copy == nil, counts: run.counts)
    }
}

struct BackupReport: Report {
    static let fields: [Field<Self>] =
        [
            Field("copied", "how many files were copied", when: { !$0.isRestoring }) { $0.counts.done },
            Field("restored", "how many files were restored", when: \.isRestoring) { $0.counts.done },
            Field("bytes", "the number of bytes of the copies that were made") { $0.counts.bytes },
            Field("unchanged", "how many files were copied before, and are left", when: { !$0.isRestoring }) {
                $0.counts.left
            },
            Field("alreadyRestored", "how many files were restored before, and are left", when: \.isRestoring) {
                $0.counts.left
            },
            Field("plain", "how many plain files were left out") { $0.counts.plain },
        ] + TreeCounts.fields.of(\.counts)

    let isRestoring: Bool
    let isInPlace: Bool
    let counts: TreeCounts

    var text: String {
        counts.sentence(
            "\(counted(counts.done, "file")) \(isRestoring ? "restored" : "copied")\(isInPlace ? "" : " (\(counts.size))")",
            left: isRestoring ? isInPlace ? "of this keychain already" : "there already" : "unchanged")
    }
}
