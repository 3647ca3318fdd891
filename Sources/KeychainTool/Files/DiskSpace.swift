internal import DataProtection
internal import Glibc

/// What a file system has left for this user.
enum DiskSpace {
    /// In bytes. nil: it does not say, or says that there is as much as the number holds, as some file systems do that are
    /// programs.
    static func free(at path: String) -> UInt64? {
        guard let status = status(of: path) else { return nil }
        let (free, isMore) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isMore ? nil : free
    }

    /// - Parameter path: Of the file that a new one is made of.
    static func require(_ needed: UInt64, at new: String, for path: String) throws(DataProtectionError) {
        guard let free = free(at: parentDirectory(of: new)), free < needed else { return }
        throw DataProtectionError(
            .system, path,
            "the disk has \(ByteCount.text(Int64(clamping: free))) free, and the new file takes "
                + "\(ByteCount.text(Int64(clamping: needed)))",
            errno: ENOSPC)
    }

    /// Whether there can be another file. Many file systems make room for their names as they need it, and say nothing.
    static func takesFiles(at path: String) -> Bool {
        guard let status = status(of: path), status.f_files > 0 else { return true }
        return status.f_favail > 0
    }

    /// In bytes.
    static func blockSize(at path: String) -> UInt64 { max(512, status(of: path).map { UInt64($0.f_frsize) } ?? 4096) }

    private static func status(of path: String) -> statvfs? {
        var status = statvfs()
        return statvfs(path, &status) == 0 ? status : nil
    }
}
