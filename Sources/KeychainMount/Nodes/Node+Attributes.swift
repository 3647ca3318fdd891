internal import CKeychainFuse
internal import DataProtectionCore
internal import Glibc
internal import KeychainSystem

extension Node {
    /// The time for which the kernel keeps attributes and names, in seconds.
    static let patience: UInt64 = 1

    /// The attributes that programs see. The size is the length of the content, which the header claims.
    func attributes() throws(Refusal) -> fuse_attr {
        let status = try status()
        return fuse_attr(status, size: isRegular ? contentLength(status) : UInt64(status.st_size))
    }

    /// A file that may not be read has the size that it has on the disk.
    private func contentLength(_ status: stat) -> UInt64 {
        let size = UInt64(max(0, status.st_size))
        // A protected file has a whole page at least.
        guard size >= 4096, case .protected(_, let length) = try? kind() else { return size }
        return length
    }

    /// The kind of a regular file, and the claims of its header.
    func kind() throws(Refusal) -> ProtectedFiles.Kind {
        let file = try reopened(O_RDONLY, keepsTime: true)
        return try refusing { () throws(DataProtectionError) in try ProtectedFiles.kind(of: file.number, path) }
    }

    /// The class that the header of a protected file claims. `nil` for every other file.
    var claimedProtection: FileProtection? {
        if case .protected(let protection, _) = try? kind() { protection } else { nil }
    }

    /// The answer to a look-up.
    func entry() throws(Refusal) -> fuse_entry_out {
        fuse_entry_out(
            nodeid: id, generation: 0, entry_valid: Self.patience, attr_valid: Self.patience, entry_valid_nsec: 0,
            attr_valid_nsec: 0, attr: try attributes())
    }
}

extension fuse_attr {
    init(_ status: stat, size: UInt64) {
        self.init(
            ino: UInt64(status.st_ino), size: size, blocks: UInt64(max(0, status.st_blocks)),
            atime: UInt64(bitPattern: Int64(status.st_atim.tv_sec)),
            mtime: UInt64(bitPattern: Int64(status.st_mtim.tv_sec)),
            ctime: UInt64(bitPattern: Int64(status.st_ctim.tv_sec)), atimensec: UInt32(status.st_atim.tv_nsec),
            mtimensec: UInt32(status.st_mtim.tv_nsec), ctimensec: UInt32(status.st_ctim.tv_nsec),
            mode: UInt32(status.st_mode), nlink: UInt32(truncatingIfNeeded: status.st_nlink), uid: status.st_uid,
            gid: status.st_gid, rdev: UInt32(truncatingIfNeeded: status.st_rdev),
            blksize: UInt32(truncatingIfNeeded: status.st_blksize), flags: 0)
    }
}

extension timespec {
    /// A time that stays as it is: UTIME_OMIT of utimensat(2).
    static let omitted = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
    /// The present time: UTIME_NOW.
    static let now = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1)
}
