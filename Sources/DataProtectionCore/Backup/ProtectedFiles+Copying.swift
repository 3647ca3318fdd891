internal import Glibc
internal import SealedFiles

extension ProtectedFiles {
    /// Copies all bytes of a file as they are.
    func copyBytes(
        of shared: borrowing SharedFile, to new: borrowing Replacement, _ progress: (Progress) -> Void
    ) throws(DataProtectionError) {
        let (descriptor, path, size) = (shared.file.descriptor, shared.file.path, shared.file.size)
        try new.requireSpace(for: size, path)
        let buffer = ContentBuffer(count: 1 << 20)
        shared.file.willBeRead()
        var offset: UInt64 = 0
        while offset < size {
            let part = UnsafeMutableRawBufferPointer(
                rebasing: buffer.bytes.prefix(Int(clamping: min(size - offset, UInt64(buffer.bytes.count)))))
            guard try part.fill(from: descriptor, at: offset, path) == part.count else {
                throw DataProtectionError(.truncated, path, "the file was cut short while it was being copied")
            }
            try files.writeAll(UnsafeRawBufferPointer(part), to: new.descriptor, at: offset, new.path)
            offset += UInt64(part.count)
            progress(Progress(completed: offset, total: size))
        }
    }
}

extension Replacement {
    /// Makes sure that the disk has room, before anything is written.
    ///
    /// - Throws: `.system` with `ENOSPC` if the disk has fewer bytes free.
    fileprivate func requireSpace(for size: UInt64, _ path: String) throws(DataProtectionError) {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return }
        // Some file systems that are programs report the largest possible number.
        let (free, isMore) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        guard !isMore, free < size else { return }
        throw DataProtectionError(
            .system, path, "the disk has \(free >> 20) MiB free, and the copy takes \((size >> 20) + 1) MiB",
            errno: ENOSPC)
    }
}
