internal import DataProtectionCore
internal import Glibc

/// The space that a file system has left for this user.
enum DiskSpace {
    /// The free bytes. nil: the file system does not say, or claims the greatest number, as some in user space do.
    static func free(at path: String) -> UInt64? {
        guard let status = status(of: path) else { return nil }
        let (free, isMore) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isMore ? nil : free
    }

    /// - Parameter path: The path of the file that the new one is made of.
    static func require(_ needed: UInt64, at new: String, for path: String) throws(DataProtectionError) {
        guard let free = free(at: parentDirectory(of: new)), free < needed else { return }
        throw DataProtectionError(
            .system, path,
            "the disk has \(ByteCount.text(free)) free, and the new file takes "
                + "\(ByteCount.text(needed))",
            errno: ENOSPC)
    }

    /// Whether the file system has room for another file. Many make room for names as they need it, and tell no number.
    static func takesFiles(at path: String) -> Bool {
        guard let status = status(of: path), status.f_files > 0 else { return true }
        return status.f_favail > 0
    }

    static func blockSize(at path: String) -> UInt64 { max(512, status(of: path).map { UInt64($0.f_frsize) } ?? 4096) }

    private static func status(of path: String) -> statvfs? {
        var status = statvfs()
        return statvfs(path, &status) == 0 ? status : nil
    }
}
