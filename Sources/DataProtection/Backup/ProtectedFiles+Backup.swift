public import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainSystem

extension ProtectedFiles {
    /// Copies a protected file as it is, encrypted, in any state of the lock: no key is needed for it.
    ///
    /// The copy is what the file was at one moment, also while a program changes it in place, and takes the mode, the
    /// times and the extended attributes of the file, and its owner where that is allowed. It is there whole or not at
    /// all, and on the disk afterwards.
    ///
    /// - Parameters:
    ///   - url: A link is followed.
    ///   - copy: Where an older copy may be. Its directory exists.
    ///   - progress: Told now and then, also while another program writes to the file.
    /// - Returns: false if the copy is there already, told by size, time of modification and header.
    /// - Throws: `.notProtected` for a plain file; `.truncated` or `.tampered` for one that is visibly not whole, in whose
    ///   place an older copy stays; `.system` with EEXIST if something else than a copy has the name.
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

    /// What is where a copy is to be; nil: nothing.
    ///
    /// - Throws: if it is no protected file, or the file itself.
    func presentCopy(
        _ target: String, of file: borrowing OpenFile
    ) throws(DataProtectionError) -> OpenFile? {
        var status = stat()
        guard lstat(target, &status) == 0 else {
            guard errno == ENOENT else { throw .system("look at", target) }
            return nil
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw occupied(target, "and no file", file.path) }
        guard status.st_ino != file.status.st_ino || status.st_dev != file.status.st_dev else {
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
    /// Whether it has the size, the time of modification and the header page of another one.
    fileprivate func isCopy(of file: borrowing OpenFile) throws(DataProtectionError) -> Bool {
        guard size == file.size, status.st_mtim.tv_sec == file.status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec == file.status.st_mtim.tv_nsec
        else { return false }
        return try firstPage() == file.firstPage()
    }
}
