internal import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainSystem

/// A regular file that is open, with what it was like at that moment.
struct OpenFile: ~Copyable {
    let descriptor: Int32
    let path: String
    let status: stat

    /// Opens a file for reading, whatever it holds.
    ///
    /// - Throws: `.unsupportedFile` for what is no regular file. Opening a pipe does not wait for its other end.
    init(reading path: String) throws(DataProtectionError) {
        try self.init(path, O_RDONLY)
    }

    /// - Parameter flags: O_RDONLY or O_RDWR.
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
        // What open(2) says of a socket.
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

    /// The first page, or all there is of it.
    func firstPage() throws(DataProtectionError) -> Data {
        var page = Data(count: FileFormat.headerByteCount)
        let result = page.withUnsafeMutableBytes { bytes in
            Result { () throws(DataProtectionError) in try bytes.fill(from: descriptor, at: 0, path) }
        }
        return page.prefix(try result.get())
    }

    /// Whether the file is protected.
    func isProtected() throws(DataProtectionError) -> Bool {
        // Nearly all files are told by their first bytes; the second copy of the header is looked at all the same.
        try firstPage().withUnsafeBytes(FileFormat.isProtected)
    }

    /// The header, which nobody has vouched for yet.
    func header() throws(DataProtectionError) -> UnverifiedFileHeader {
        let page = try firstPage()
        do throws(FileFormatError) {
            return try FileHeader.newest(in: page)
        } catch {
            throw DataProtectionError(error, path)
        }
    }

    /// Whether both slots have a whole header, which need not be the same one.
    func hasBothHeaders() throws(DataProtectionError) -> Bool {
        let page = try firstPage()
        do throws(FileFormatError) {
            return try FileHeader.inFirstPage(page).areBothWhole
        } catch {
            throw DataProtectionError(error, path)
        }
    }

    /// Waits until nobody else writes to the file (docs/file-format.md, "Several programs"). The lock goes with the
    /// descriptor.
    func lockHeader() throws(DataProtectionError) {
        let failure = ckeychain_await_lock(descriptor, Int64(FileFormat.headerByteCount))
        guard failure == 0 else { throw .system("lock", path, errno: failure) }
    }

    /// For asking later whether it is still the same. To be used while this exists.
    var identity: FileIdentity { FileIdentity(descriptor: descriptor, path: path, status: status) }
}

/// What a file was when it was opened.
struct FileIdentity {
    fileprivate let descriptor: Int32
    fileprivate let path: String
    fileprivate let status: stat

    /// Whether the path still leads to it.
    func isStillNamed() -> Bool {
        var named = stat()
        return stat(path, &named) == 0 && named.st_ino == status.st_ino && named.st_dev == status.st_dev
    }

    /// Whether both is so: the path still leads to it, and nobody has touched it.
    func isUnchanged() -> Bool { isStillNamed() && isUntouched() }

    /// Whether nobody has written to it or changed its mode, owner, names or attributes.
    func isUntouched() -> Bool {
        var present = stat()
        // The time of change is the kernel's own: nobody sets it back, as they may the time of modification.
        return fstat(descriptor, &present) == 0 && present.st_size == status.st_size
            && present.st_ctim.tv_sec == status.st_ctim.tv_sec && present.st_ctim.tv_nsec == status.st_ctim.tv_nsec
    }
}
