internal import Glibc

/// The space that a file system has left for this user.
package struct DiskSpace {
    private let status: statvfs

    /// nil: the file system does not say.
    package init?(at path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        self.status = status
    }

    /// - Parameter descriptor: An open file.
    package init?(of descriptor: Int32) {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return nil }
        self.status = status
    }

    /// The free bytes. nil: the file system claims the greatest number, as some in user space do.
    package var free: UInt64? {
        let (free, isMore) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isMore ? nil : free
    }

    /// Whether there is room for another file. Many make room for names as they need it, and tell no number.
    package var takesFiles: Bool { status.f_files == 0 || status.f_favail > 0 }

    package var blockSize: UInt64 { max(512, UInt64(status.f_frsize)) }
}
