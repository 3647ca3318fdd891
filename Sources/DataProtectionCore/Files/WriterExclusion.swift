internal import FoundationEssentials
internal import Glibc
internal import KeychainSystem
internal import SealedFiles

/// Keeps other programs from writing to a file that is about to be replaced. Their later writes would be lost, even
/// with a sync.
///
/// On a file of this user's it is a read lease (fcntl(2), "Leases"). The kernel grants no lease while a program has the
/// file open for writing, and a program that opens it afterwards waits until the lease is given back. Without a lease,
/// only a look at the programs that this user may inspect shows a writer.
struct WriterExclusion {
    private let descriptor: Int32
    private let path: String
    /// Whether there is a lease. Without one ``WritersInProc`` is asked.
    private let hasLease: Bool

    /// Begins the exclusion.
    ///
    /// - Parameter file: The file. The exclusion ends when it is closed.
    /// - Throws: `.changedMeanwhile` if a program has it open for writing.
    init(of file: borrowing OpenFile) throws(DataProtectionError) {
        descriptor = file.descriptor
        path = file.path
        guard Self.knowsLeases(descriptor) else {
            hasLease = false
            try requireNoWriter()
            return
        }
        // The kernel sends a signal when a program waits for the lease, and the default signal would end this program.
        // SIGURG is ignored unless a program handles it. Without an owner no signal is sent either, but the owner can
        // be removed only once there is a lease.
        _ = fcntl(descriptor, Self.setSignal, SIGURG)
        hasLease = fcntl(descriptor, Self.setLease, F_RDLCK) == 0
        let failure = errno
        _ = fcntl(descriptor, F_SETOWN, 0)
        if hasLease { return }
        if failure == EAGAIN { throw Self.written(path) }
        try requireNoWriter()
    }

    /// Makes sure that no program writes, at the last moment before the file is replaced.
    ///
    /// - Throws: `.changedMeanwhile` if a program has opened the file for writing, or waits until it may.
    func check() throws(DataProtectionError) {
        if !hasLease { try requireNoWriter() }
        try checkLease()
    }

    /// Looks whether a program waits for the file. Long work calls it now and then, so that the other program does not
    /// wait for its end. Without a lease no program waits.
    ///
    /// - Throws: `.changedMeanwhile` if a program waits until it may open the file for writing.
    func checkLease() throws(DataProtectionError) {
        guard hasLease else { return }
        // While a program waits, this is the kind of lease that the present one has to become.
        guard fcntl(descriptor, Self.getLease) == F_RDLCK else { throw Self.written(path) }
    }

    private func requireNoWriter() throws(DataProtectionError) {
        if WritersInProc.exist(of: descriptor) { throw Self.written(path) }
    }

    private static func written(_ path: String) -> DataProtectionError {
        DataProtectionError(
            .changedMeanwhile, path,
            "another program has it open for writing, and what it goes on writing would be lost: end it first. Nothing was "
                + "changed")
    }

    // The values of F_SETSIG, F_SETLEASE and F_GETLEASE (fcntl(2)), which Glibc declares only for C programs that ask
    // for them.
    private static let (setSignal, setLease, getLease): (Int32, Int32, Int32) = (10, 1024, 1025)

    /// Whether the file system knows leases.
    ///
    /// File systems of a network refuse a lease for reasons of their own: NFS, SMB, Ceph, AFS, 9P. The numbers are
    /// those of statfs(2).
    private static func knowsLeases(_ descriptor: Int32) -> Bool {
        var type: Int64 = 0
        let ofNetwork: Set<Int64> = [
            0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x00C3_6400, 0x5346_414F, 0x6B41_4653, 0x0102_1997,
        ]
        return ckeychain_file_system_type(descriptor, &type) == 0 && !ofNetwork.contains(type & 0xFFFF_FFFF)
    }
}

/// The programs that have a file open for writing, as far as this user may inspect them: proc(5).
enum WritersInProc {
    /// Whether a program writes, through a descriptor or a shared mapping.
    static func exist(of descriptor: Int32) -> Bool {
        var file = stat()
        guard fstat(descriptor, &file) == 0 else { return false }
        return names(in: "/proc").contains { name in
            name.allSatisfy(\.isNumber) && (hasDescriptor("/proc/\(name)", file) || hasMapping("/proc/\(name)", file))
        }
    }

    private static func hasDescriptor(_ process: String, _ file: stat) -> Bool {
        names(in: process + "/fd").contains { number in
            var open = stat()
            guard stat("\(process)/fd/\(number)", &open) == 0, open.st_ino == file.st_ino, open.st_dev == file.st_dev,
                let line = lines(of: "\(process)/fdinfo/\(number)").first(where: { $0.hasPrefix("flags:") }),
                let flags = Int32(line.split(whereSeparator: \.isWhitespace).last ?? "", radix: 8)
            else { return false }
            return flags & O_ACCMODE != O_RDONLY
        }
    }

    /// Whether a process has a shared, writable mapping of the file.
    ///
    /// The device is not compared: some file systems have another number here than in stat(2).
    private static func hasMapping(_ process: String, _ file: stat) -> Bool {
        lines(of: process + "/maps").contains { line in
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            return fields.count >= 5 && fields[1].contains("w") && fields[1].hasSuffix("s")
                && UInt64(fields[4]) == UInt64(file.st_ino)
        }
    }

    /// The names in a directory. A directory that may not be read, or is gone, has none.
    private static func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }

    private static func lines(of path: String) -> [Substring] {
        // These files report a size of 0.
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        guard let bytes = OpenDescriptor.content(of: file) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}
