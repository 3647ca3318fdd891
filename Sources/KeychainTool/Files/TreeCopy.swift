internal import DataProtectionCore
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainSystem

/// The copies of files and trees in one directory, each under its last name.
///
/// A directory is made when the walk enters it. It gets the mode, times and attributes of its original when its content
/// is complete; ``ProtectedFiles/DirectoryUse/restore`` says which of these a restore takes.
final class TreeCopy {
    private struct Level {
        let source: String
        let copy: String
        /// Whether the copy was made by this run.
        let isNew: Bool
    }

    private let directory: String
    private let files: ProtectedFiles
    private let use: ProtectedFiles.DirectoryUse
    private let run: TreeRun
    /// The copies of the paths that were named.
    private let copies: [PathKey: String]
    /// The directories from the top down to the present one.
    private var levels: [Level] = []
    /// A directory that could not be made. Nothing below it is copied.
    private var blocked: String?

    /// Makes the directory that all copies go to, if it is not there.
    ///
    /// - Throws: if two of the paths have the same last name, or a copy would be within its original.
    init(
        into directory: String, for use: ProtectedFiles.DirectoryUse, _ files: ProtectedFiles, _ run: TreeRun
    ) throws {
        (self.directory, self.use, self.files, self.run) = (directory, use, files, run)
        var copies: [PathKey: String] = [:]
        var sources: [PathKey: PathKey] = [:]
        for path in run.walk.paths {
            guard let name = FilePath.lastName(of: path) else { throw FileFailure.nameIsNoText(path) }
            let (source, copy) = (PathKey(path), FilePath.join(directory, name))
            if let other = sources.updateValue(source, forKey: PathKey(copy)), other != source {
                throw FileFailure(
                    path, .parameter, "\(other.path) has the same last name: copy them to two directories")
            }
            copies[source] = copy
        }
        self.copies = copies
        for path in run.walk.paths { try requireOutside(path) }
        try requireElsewhere(directory)
        _ = try open(directory, isNamed: true)
    }

    // MARK: Places

    func place(of file: TreeWalk.FoundFile, below root: String) -> URL {
        URL(namedByPerson: place(of: file.path, below: root))
    }

    /// The place for the copy of a path that was named, or of one below it.
    private func place(of path: String, below root: String) -> String {
        FilePath.join(copies[PathKey(root)]!, FilePath.rest(of: path, below: root) ?? "")  // the root was named
    }

    private func requireElsewhere(_ copy: String) throws(FileFailure) {
        if run.walk.storeFiles.belong(in: copy) { throw StoreFiles.refusal(of: copy) }
    }

    /// A tree that is copied into itself has no end.
    private func requireOutside(_ path: String) throws(FileFailure) {
        let source = FileNumber(path)
        var place = FilePath.exists(directory) ? directory : parentDirectory(of: directory)
        while let number = FileNumber(place) {
            if number == source {
                throw FileFailure(path, .parameter, "\(directory) is within it: copy to a directory elsewhere")
            }
            let above = place + "/.."
            if FileNumber(above) == number { return }
            place = above
        }
    }

    // MARK: Directories

    /// Call this with each directory, before its content.
    func enter(_ path: String, below root: String) throws {
        leave(before: path)
        if isBlocked(path) { return }
        let copy = place(of: path, below: root)
        do {
            try requireElsewhere(copy)
            if let present = FileNumber(copy), present == FileNumber(path) {
                throw FileFailure(path, .parameter, "the copy would take its own place")
            }
            let isNew = try open(copy)
            if isNew && use == .restore { try FileFailure.naming(copy) { try files.giveClass(copy, like: path) } }
            levels.append(Level(source: path, copy: copy, isNew: isNew))
        } catch let failure as FileFailure {
            blocked = path
            let message = "\(failure.text); nothing below it was copied"
            throw FileFailure(path: path, message: message, status: failure.status)
        }
    }

    /// Finishes the directories that are not above a file or directory. Call this before each file.
    ///
    /// A directory that cannot be finished stays as it is.
    func leave(before path: String) {
        while let last = levels.last, !Self.isBelow(path, last.source) { finishLast() }
    }

    /// Finishes the directories that are left.
    func end() {
        while !levels.isEmpty { finishLast() }
        blocked = nil
    }

    func isBlocked(_ path: String) -> Bool { blocked.map { Self.isBelow(path, $0) } ?? false }

    private static func isBelow(_ path: String, _ directory: String) -> Bool {
        FilePath.rest(of: path, below: directory).map { !$0.isEmpty } ?? false
    }

    private func finishLast() {
        let level = levels.removeLast()
        // A restore never changes a directory that was there before.
        if use == .restore && !level.isNew { return }
        do throws(DataProtectionError) {
            try files.finishDirectory(level.copy, like: level.source, use)
        } catch {
            run.fail(FileFailure(error))
        }
    }

    /// - Returns: whether the directory is new.
    private func open(_ path: String, isNamed: Bool = false) throws -> Bool {
        let isNew = try FileFailure.naming(path) { try files.openDirectory(path, use, isNamed: isNamed) }
        run.sweep(path, files)
        return isNew
    }
}
