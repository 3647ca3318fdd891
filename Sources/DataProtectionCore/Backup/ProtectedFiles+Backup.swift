public import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainSystem
public import SealedFiles

extension ProtectedFiles {
    /// Copies a protected file as it is, encrypted, in any state of the lock. The copy needs no key.
    ///
    /// ```swift
    /// for url in letters {
    ///     try files.backUp(url, to: backup.appending(path: url.lastPathComponent))
    /// }
    /// ```
    ///
    /// The copy is one version of the file, whole, even while a program changes the file in place. It gets the mode,
    /// the times and the extended attributes of the file, and its owner where the system allows that. It appears whole
    /// or not at all, and is on the disk when the call returns.
    ///
    /// The copy opens with this keychain, and elsewhere with a ``FileBackupKey`` that was made before. A program that
    /// may write to the backup's directory can exchange the copy for an older one, which is not noticed.
    ///
    /// - Parameters:
    ///   - url: The file. A link is followed.
    ///   - copy: The place of the copy, where an older copy may be. Its directory must exist.
    ///   - progress: Called after each part, on this thread, and also while the call waits for another program that
    ///     writes.
    /// - Returns: false if the copy is there already, judged by size, time of modification and header.
    /// - Throws: `.notProtected` for a plain file. `.truncated` or `.tampered` for a file that is visibly damaged; an
    ///   older copy stays then. `.changedMeanwhile` if programs write to the file for half a minute. `.system` with
    ///   `EEXIST` if something other than a copy has the name, and with `ENOSPC` if the disk has no room.
    ///   `.unsupportedFile` if `copy` is the file itself.
    @discardableResult
    public func backUp(
        _ url: URL, to copy: URL, progress: (Progress) -> Void = { _ in }
    ) throws(DataProtectionError) -> Bool {
        let path = try FilePath.target(of: try FilePath.of(url))
        let target = try FilePath.of(copy)
        let shared = try SharedFile(path) { progress(Progress(completed: 0, total: nil)) }
        _ = try shared.header()
        if let present = try presentCopy(target, of: shared.file) {
            let isSame = try present.isCopy(of: shared.file)
            if isSame { return false }
        }
        let new = try Replacement(of: target, mode: 0o600, files)
        try copyBytes(of: shared, to: new, progress)
        try new.takeEverything(of: shared.file, mustKeepOwner: false)
        try new.takeTimes(of: shared.file)
        try shared.requireUnchanged()
        try new.publish(isDurable: true)
        return true
    }

    /// Opens the file in the place of a copy.
    ///
    /// - Returns: `nil` if there is no file.
    /// - Throws: An error if it is not a protected file, or if it is the file that is copied.
    func presentCopy(
        _ target: String, of file: borrowing OpenFile
    ) throws(DataProtectionError) -> OpenFile? {
        var status = stat()
        guard lstat(target, &status) == 0 else {
            guard errno == ENOENT else { throw .system("look at", target) }
            return nil
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw occupied(target, "and no file", file.path) }
        guard FileNumber(status) != FileNumber(file.status) else {
            throw DataProtectionError(.unsupportedFile, file.path, "the copy would take the place of the file itself")
        }
        let present = try OpenFile(reading: target)
        guard try present.isProtected() else { throw occupied(target, "a plain file", file.path) }
        return present
    }

    func occupied(_ target: String, _ what: String, _ path: String) -> DataProtectionError {
        DataProtectionError(
            .system, path, "\(target) is there already, \(what), and is not replaced: remove it, or copy elsewhere",
            errno: EEXIST)
    }
}

extension OpenFile {
    /// Whether it has the size, the time of modification and the header page of another file.
    fileprivate func isCopy(of file: borrowing OpenFile) throws(DataProtectionError) -> Bool {
        guard size == file.size, status.st_mtim.tv_sec == file.status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec == file.status.st_mtim.tv_nsec
        else { return false }
        return try firstPage() == file.firstPage()
    }
}
