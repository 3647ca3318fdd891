internal import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainSystem
internal import SealedFiles

/// A regular file that is open, with its status at the moment of opening.
struct OpenFile: ~Copyable {
    let descriptor: Int32
    let path: String
    let status: stat

    /// Opens a file for reading, plain or protected.
    ///
    /// - Throws: `.unsupportedFile` if it is not a regular file. Opening a pipe does not wait for its other end.
    init(reading path: String) throws(DataProtectionError) {
        try self.init(path, O_RDONLY)
    }

    /// Opens a file.
    ///
    /// - Parameter flags: `O_RDONLY` or `O_RDWR`.
    init(_ path: String, _ flags: Int32) throws(DataProtectionError) {
        let descriptor = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw Self.openError(path) }
        var status = stat()
        let failure = fstat(descriptor, &status) == 0 ? 0 : errno
        let kind = status.st_mode & S_IFMT
        guard failure == 0, kind == S_IFREG else {
            close(descriptor)
            throw failure == 0 ? Self.unsupported(kind, path) : .system("open", path, errno: failure)
        }
        self.descriptor = descriptor
        self.path = path
        self.status = status
    }

    deinit { close(descriptor) }

    private static func openError(_ path: String) -> DataProtectionError {
        // open(2) reports a socket by this error.
        errno == ENXIO ? unsupported(S_IFSOCK, path) : .system("open", path)
    }

    private static func unsupported(_ kind: mode_t, _ path: String) -> DataProtectionError {
        let name =
            switch kind {
            case S_IFDIR: "a directory"
            case S_IFIFO: "a pipe"
            case S_IFSOCK: "a socket"
            case S_IFCHR, S_IFBLK: "a device"
            default: "no regular file"
            }
        return DataProtectionError(
            .unsupportedFile, path, "it is \(name)", errno: kind == S_IFDIR ? EISDIR : nil)
    }

    var size: UInt64 { UInt64(max(0, status.st_size)) }

    /// The first page, or the part of it that the file has.
    func firstPage() throws(DataProtectionError) -> Data { try FileHeader.firstPage(of: descriptor, path) }

    /// Whether the file is protected.
    func isProtected() throws(DataProtectionError) -> Bool {
        // The first bytes decide for nearly all files. The second copy of the header is looked at as well.
        try firstPage().withUnsafeBytes(FileFormat.isProtected)
    }

    /// The newest header and the one in the other slot, which are not verified yet.
    func headers() throws(DataProtectionError) -> FileHeaderPair {
        let page = try firstPage()
        return try withFormatErrors(path) { () throws(FileFormatError) in try FileHeader.inFirstPage(page) }
    }

    /// The newest header, which is not verified yet.
    func header() throws(DataProtectionError) -> UnverifiedFileHeader { try headers().newest }

    /// Tells the kernel that the file will be read from its beginning to its end.
    func willBeRead() { if size > 1 << 20 { posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL) } }

    /// The identity of the file, for finding out later whether it is still this file. It is valid for as long as this
    /// exists.
    var identity: FileIdentity { FileIdentity(descriptor: descriptor, path: path, status: status) }
}

/// The status of a file at the moment of opening.
struct FileIdentity {
    fileprivate let descriptor: Int32
    fileprivate let path: String
    fileprivate let status: stat

    /// Whether the path still leads to this file.
    private func isStillNamed() -> Bool { FileNumber(path) == FileNumber(status) }

    /// Makes sure that the path still leads to this file.
    ///
    /// - Throws: `.changedMeanwhile`.
    func requireStillNamed() throws(DataProtectionError) {
        guard !isStillNamed() else { return }
        throw DataProtectionError(
            .changedMeanwhile, path, "another program has replaced the file meanwhile; nothing was changed")
    }

    /// Whether the path still leads to this file, and the file was not touched.
    func isUnchanged() -> Bool { isStillNamed() && isUntouched() }

    /// Whether the file's content, mode, owner, names and attributes are those of the moment of opening.
    func isUntouched() -> Bool {
        var present = stat()
        // Only the kernel sets the time of change. A program can set back the time of modification.
        return fstat(descriptor, &present) == 0 && present.st_size == status.st_size
            && present.st_ctim.tv_sec == status.st_ctim.tv_sec && present.st_ctim.tv_nsec == status.st_ctim.tv_nsec
    }
}
