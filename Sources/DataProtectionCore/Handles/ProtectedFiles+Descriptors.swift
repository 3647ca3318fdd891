internal import FoundationEssentials
internal import Glibc
package import KeychainClient
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
package import SealedFiles

// Files by their descriptors, for a program that has its own way of finding them.

extension ProtectedFiles {
    /// The kind of a regular file, and the claims of its header.
    package enum Kind: Sendable, Equatable {
        /// There are no bytes. Such a file becomes a protected one when it is first written.
        case empty
        case plain
        case protected(FileProtection, length: UInt64)
        /// It is a protected file, and neither copy of its header can be read.
        case damaged
    }

    /// Looks at the header of a file that is open for reading.
    package static func kind(of descriptor: Int32, _ path: String) throws(DataProtectionError) -> Kind {
        let bytes = try FileHeader.firstPage(of: descriptor, path)
        if bytes.isEmpty { return .empty }
        do throws(FileFormatError) {
            let header = try FileHeader.newest(in: bytes).claimed
            return .protected(FileProtection(header.fileClass), length: header.length)
        } catch .notProtected {
            return .plain
        } catch {
            return .damaged
        }
    }

    /// A value that is another one for other content of a file, unless its former bytes are put back one by one.
    package struct ContentMark: Equatable {
        fileprivate let length: UInt64
        fileprivate let root: FileEntry?
        fileprivate let writeCount: UInt64

        fileprivate init(_ header: FileHeader) {
            (length, root, writeCount) = (header.length, header.root, header.writeCount)
        }
    }

    /// - Returns: `nil` for a file whose header cannot be read.
    package static func contentMark(of descriptor: Int32, _ path: String) throws(DataProtectionError) -> ContentMark? {
        let page = try FileHeader.firstPage(of: descriptor, path)
        return (try? FileHeader.newest(in: page)).map { ContentMark($0.claimed) }
    }

    /// Makes a handle for a protected file.
    ///
    /// - Parameters:
    ///   - descriptor: The open file, for reading and, if the handle writes, for writing. The handle closes it, also if
    ///     this call throws.
    ///   - path: A name for errors.
    /// - Throws: The errors of ``open(_:for:options:protection:)``.
    package func open(
        descriptor: Int32, _ path: String, mayWrite: Bool
    ) throws(DataProtectionError) -> ProtectedFileHandle {
        try handle(SealedFile.Descriptor(descriptor, mayWrite: mayWrite, mustClose: true), path)
    }

    /// Writes the header of a file without content that will be changed in place.
    func writeFirstHeader(
        _ made: FileKey, to file: Int32, _ path: String
    ) throws(DataProtectionError) -> OpenFileKey {
        let key = OpenFileKey(try KeyMaterial(made.key, path), fileID: made.wrapped.fileID, bootID: bootID)
        let header = FileHeader(
            key: made.wrapped, chunkBits: chunkBits, isChangedInPlace: true, length: 0,
            storedSize: UInt64(FileFormat.headerByteCount), writeCount: 0, root: nil, usedPages: 0)
        try HeaderWriter(file: file, path: path, fileKey: key.fileKey, files: files).writePage(header)
        return key
    }

    /// The key of a file that is still to be made.
    package struct NewFile: Sendable {
        fileprivate let key: FileKey
    }

    /// Asks for the key of a new file, so that a refusal comes before there is a file.
    ///
    /// - Throws: `.locked` if no file of this class can be made now.
    package func newFile(_ protection: FileProtection, _ path: String) throws(DataProtectionError) -> NewFile {
        NewFile(key: try keys.ask(.make(protection.fileClass, fileID: UUID()), path))
    }

    /// Makes a file without content of an empty file, or of a plain one whose content is not wanted any more. If another
    /// program has made a protected one of it meanwhile, that file is opened.
    ///
    /// - Parameters:
    ///   - descriptor: The file, open for reading and writing. The handle closes it, also if this call throws.
    ///   - replacesPlain: Whether a plain file is replaced. Otherwise it is an error, and stays as it is.
    package func make(
        _ new: NewFile, descriptor: Int32, _ path: String, replacesPlain: Bool
    ) throws(DataProtectionError) -> ProtectedFileHandle {
        let file = SealedFile.Descriptor(descriptor, mayWrite: true, mustClose: true)
        return try HeaderLock.exclusive.during(descriptor, path) { () throws(DataProtectionError) in
            let kind = try Self.kind(of: descriptor, path)
            guard kind == .empty || kind == .plain && replacesPlain else { return try handle(file, path) }
            if kind == .plain && files.truncate(descriptor, to: FileFormat.headerByteCount) != 0 {
                throw .system("write", path)
            }
            return try handle(file, path, key: try writeFirstHeader(new.key, to: descriptor, path))
        }
    }

    /// Tells, on a thread of its own, that files of some class have closed. For ``FileProtection/completeWhenUserInactive``
    /// that is later than the lock.
    package func whenClassesClose(_ tell: @escaping @Sendable () -> Void) -> LockFeed {
        LockFeed(keys.connection) { _ in tell() }
    }

    /// An attribute that every file and directory of a mount has, and that no list names.
    package static let attributeOfMounts = "user.keychain.mount"
}

extension ProtectedFileHandle {
    /// The class, and the mark of the present content. If the newest header does not count, which a power cut leaves, the
    /// file has less than that claims.
    ///
    /// - Throws: `.locked`, as every call.
    package func state() throws(DataProtectionError) -> (
        protection: FileProtection, mark: ProtectedFiles.ContentMark, isRetreat: Bool
    ) {
        let version = try file.current().version
        return (
            FileProtection(version.header.fileClass), ProtectedFiles.ContentMark(version.header), version.isRetreat
        )
    }

    /// The length, if no other program has changed the file since it was last verified. It asks for no key.
    package var knownLength: UInt64? { file.knownLength }

    /// Has the disk begin with what was written.
    package func beginSync() { if let file = try? file.descriptor() { ckeychain_begin_sync(file.number) } }

    /// Asks whether a program could open the file now. The file of a handle that is open in class B stays usable, and
    /// does not open a second time while the keychain is locked.
    ///
    /// - Throws: `.locked`.
    package func requireOpening() throws(DataProtectionError) {
        if try protection != .completeUnlessOpen { return }
        // Class B opens when class A does.
        try openFiles.gate.require(.complete, path)
    }
}
