internal import CKeychainFuse
internal import DataProtectionCore
internal import Glibc
internal import KeychainSystem
internal import Synchronization

/// The lengths of files' content, as they were when the files were last looked at. They outlive nodes. Each change of a file
/// changes its ctime.
final class KnownLengths: Sendable {
    private static let most = 1 << 17
    /// Two changes within this time may leave a file with the same times, in seconds: FAT keeps them by two seconds.
    private static let oneMoment = 3

    private struct Known {
        let size: off_t
        let changed: (Int, Int)
        let length: UInt64
    }
    private let known = BriefLock<[FileNumber: Known]>([:])

    /// The length that a program sees. A file that may not be read has the size that it has on the disk.
    func length(of node: Node, _ status: stat, now: time_t = time(nil)) -> UInt64 {
        // A protected file has a whole page at least.
        guard node.isRegular, status.st_size >= 4096 else { return UInt64(max(0, status.st_size)) }
        let changed = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
        let counted = node.countedLength
        if counted == nil, let known = known.withLock({ $0[node.number] }), known.size == status.st_size,
            known.changed == changed
        {
            return known.length
        }
        guard let length = counted ?? node.claimedLength else { return UInt64(status.st_size) }
        let isSettled = changed.0 + Self.oneMoment < now
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[node.number] = isSettled ? Known(size: status.st_size, changed: changed, length: length) : nil
        }
        return length
    }
}

extension Volume {
    /// The attributes that programs see. The size is the length of the content, which the header claims.
    func attributes(of node: Node, _ status: stat) -> fuse_attr {
        fuse_attr(status, size: lengths.length(of: node, status))
    }

    /// The answer to a look-up.
    func entry(_ node: Node, _ status: stat) -> fuse_entry_out {
        node.told.store(Node.clock, ordering: .relaxed)
        return fuse_entry_out(
            nodeid: node.id, generation: 0, entry_valid: Node.patience, attr_valid: Node.patience, entry_valid_nsec: 0,
            attr_valid_nsec: 0, attr: attributes(of: node, status))
    }
}

extension Node {
    /// The time for which the kernel keeps attributes and names, in seconds.
    static let patience: UInt64 = 1

    /// - Parameter times: The time of access and that of modification.
    func setTimes(_ times: [timespec]) throws(Refusal) {
        guard utimensat(AT_FDCWD, path, times, 0) == 0 else { throw .ofSystem() }
    }

    /// The kind of a regular file, and the claims of its header.
    func kind() throws(Refusal) -> ProtectedFiles.Kind {
        let file = try reopened(O_RDONLY, keepsTime: true)
        return try refusing { () throws(DataProtectionError) in try ProtectedFiles.kind(of: file.number, path) }
    }

    /// `nil` for a file that may not be read.
    fileprivate var claimedLength: UInt64? {
        switch try? kind() {
        case nil: nil
        case .protected(_, let length): length
        default: try? UInt64(status().st_size)
        }
    }

    /// The length of an open file. After a power cut the newest header may claim more, until the opening has looked.
    fileprivate var countedLength: UInt64? {
        if case .sealed(let handle, _) = try? content() { handle.knownLength } else { nil }
    }

    /// The class that the header of a protected file claims. `nil` for every other file.
    var claimedProtection: FileProtection? {
        if case .protected(let protection, _) = try? kind() { protection } else { nil }
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
