public import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
package import KeychainSystem
public import SwiftKeychain

/// Files that are encrypted on the disk, each with a class that says when it opens.
///
/// ```swift
/// let files = ProtectedFiles()
/// try files.write(Data("draft".utf8), to: url, protection: .complete)
/// let data = try files.read(from: url)          // .locked while the keychain is locked
/// ```
///
/// Content is encrypted in this process; the keychain is asked for the key of each file. A file can be moved, linked
/// and copied like any other, and opens wherever the same keychain is in use.
///
/// Every function blocks its thread until it is done. All of them may be called from several threads at once, and by
/// several programs: who reads while another one replaces a file gets the old content or the new one, whole.
///
/// What this does *not* protect: names, sizes and times of files; content in the memory of programs that have read it;
/// content that a plain file had before, which may remain on the disk where the file system has put it; and against
/// whoever may write to the directory, a whole file from being put back as it was, exchanged for another one or deleted.
public struct ProtectedFiles: Sendable {
    /// How a file is written.
    public struct WriteOptions: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// An error (EEXIST) if there is a file of that name.
        public static let withoutOverwriting = WriteOptions(rawValue: 1)
        /// Does not wait until the disk has it. After a crash of the system the file may be the old one, or empty; after
        /// one of the program alone it is the old one or the new one, as ever.
        public static let withoutWaitingForDisk = WriteOptions(rawValue: 2)

        static let known: WriteOptions = [.withoutOverwriting, .withoutWaitingForDisk]
    }

    /// How far an operation has come.
    public struct Progress: Sendable, Hashable {
        /// Bytes of content.
        public let completed: UInt64
        /// nil: not known yet.
        public let total: UInt64?
    }

    /// nil: that of the current task or of the process, whichever it is at the time of a call.
    private let ownConnection: Connection?
    let files: any FileSystem
    let randomness: any Randomness
    private let now: @Sendable () -> ContinuousClock.Instant
    let bootID: UUID
    /// log2 of the chunk size of files that are made.
    let chunkBits: UInt8
    /// The one file or directory that is meant, as it was found in a tree; nil: whatever a path leads to.
    private var found: FileNumber?

    var keys: FileKeys { FileKeys(connection: ownConnection ?? .current) }

    /// Files under the keychain that this process uses: see `KeychainConfiguration.processDefault`.
    public init() { self.init(nil, SystemFiles(), SystemRandomness()) }

    /// Files under another keychain than the process's own.
    public init(_ configuration: KeychainConfiguration) {
        self.init(Connection(configuration), SystemFiles(), SystemRandomness())
    }

    private init(
        _ connection: Connection?, _ files: any FileSystem, _ randomness: any Randomness,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, bootID: UUID = Self.bootID,
        chunkBits: UInt8 = FileFormat.usualChunkBits
    ) {
        ownConnection = connection
        self.files = files
        self.randomness = randomness
        self.now = now
        self.bootID = bootID
        self.chunkBits = chunkBits
    }

    /// For tests that let calls fail, time pass, and the system start anew, or want trees with many levels.
    package init(
        connection: Connection, files: any FileSystem = SystemFiles(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, bootID: UUID? = nil, chunkBits: UInt8? = nil
    ) {
        self.init(
            connection, files, SystemRandomness(), now: now, bootID: bootID ?? Self.bootID,
            chunkBits: chunkBits ?? FileFormat.usualChunkBits)
    }

    /// Where the kernel hides it, everything is looked at that another process has not forced to the disk.
    private static let bootID = SystemStart.id ?? UUID()

    /// The same for one file that was found in a tree: what is changed is that, and nothing that a link or another directory
    /// in the place of one above it leads to.
    ///
    /// - Parameter found: nil: whatever the path leads to, as with a path that a person named.
    package func meaning(_ found: FileNumber?) -> ProtectedFiles {
        var files = self
        files.found = found
        return files
    }

    /// Opens what is to be changed.
    ///
    /// - Throws: `.changedMeanwhile` if it is another file than ``meaning(_:)`` was told.
    func open(_ url: URL, _ flags: Int32) throws(DataProtectionError) -> OpenFile {
        let path = try FilePath.of(url)
        guard let found else { return try OpenFile(try FilePath.target(of: path), flags) }
        let file = try OpenFile(path, flags | O_NOFOLLOW)
        try require(found, file.status, path)
        return file
    }

    private func require(_ found: FileNumber, _ status: stat, _ path: String) throws(DataProtectionError) {
        guard FileNumber(status) != found else { return }
        throw DataProtectionError(
            .changedMeanwhile, path, "something else has taken its place since it was found; nothing was changed")
    }

    /// Calls `body` with an open directory; returns false if there is none at the path.
    func withDirectory(
        _ url: URL, _ body: (_ directory: Int32, _ path: String) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) -> Bool {
        let path = try FilePath.of(url)
        let directory = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (found == nil ? 0 : O_NOFOLLOW))
        guard directory >= 0 else {
            if errno == ENOTDIR { return false }
            throw .system("open", path)
        }
        defer { close(directory) }
        if let found {
            var status = stat()
            guard fstat(directory, &status) == 0 else { throw .system("look at", path) }
            try require(found, status, path)
        }
        try body(directory, path)
        return true
    }

    func window(_ fileClass: FileClass) -> AccessWindow { AccessWindow(fileClass, keys, now: now) }

    // MARK: Whole files

    /// Writes a file, whole or not at all: content goes to a new file, which then takes the old one's place with its
    /// mode and, where that is allowed, its owner.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - url: A link is followed, and the file replaced that it leads to.
    ///   - protection: nil: the class of the file that is replaced, if it is protected; else the one that the directory
    ///     gives to new files (``setProtection(_:of:)``), else ``FileProtection/completeUntilFirstUserAuthentication``.
    ///   - options: None: the file may be there, and is on the disk afterwards.
    /// - Throws: `.locked` if a file of this class cannot be made now, `.unsupportedFile` if a plain file with several names
    ///   (hard links) is there, of which the others would keep the plain content; the old file stays. Of a protected file
    ///   with several names the others keep the old content.
    public func write(
        _ data: Data, to url: URL, protection: FileProtection? = nil, options: WriteOptions = []
    ) throws(DataProtectionError) {
        try create(url, protection, options) { (writer) throws(DataProtectionError) in
            let result = data.withUnsafeBytes { bytes in
                Result { () throws(DataProtectionError) in try writer.finish(bytes) }
            }
            try result.get()
        }
    }

    /// Reads a whole file into memory.
    ///
    /// - Throws: `.notProtected` for a plain file, `.locked`, `.tampered` or any other ``DataProtectionError/Code``;
    ///   `.system` with EFBIG for one that is larger than this machine's memory.
    public func read(from url: URL) throws(DataProtectionError) -> Data {
        let file = try OpenFile(reading: try FilePath.of(url))
        let sealed = sealed(file)
        while true {
            let length = try sealed.current(.continuing).0.header.length
            guard length <= Self.memorySize, let count = Int(exactly: length) else {
                throw .system("read into memory", file.path, errno: EFBIG)
            }
            guard count > 0 else { return Data() }
            guard let bytes = malloc(count) else { throw .system("read into memory", file.path, errno: ENOMEM) }
            if count > 1 << 20 { posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_SEQUENTIAL) }
            let target = UnsafeMutableRawBufferPointer(start: bytes, count: count)
            do throws(DataProtectionError) {
                // Another program may write to it meanwhile: what is given out is one version, whole.
                if try sealed.readAll(into: target) {
                    return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
                }
                ckeychain_erase(bytes, count)
                free(bytes)
            } catch {
                // Parts of it may have been opened.
                ckeychain_erase(bytes, count)
                free(bytes)
                throw error
            }
        }
    }

    // MARK: Parts at a time

    /// Writes a file of any size, in little memory.
    ///
    /// - Parameters:
    ///   - url: As in ``write(_:to:protection:options:)``, like the next two.
    ///   - protection: nil: what is usual there.
    ///   - options: None: the file may be there, and is on the disk afterwards.
    ///   - fill: Is given memory, puts the next content there, and returns how much it was; 0 at the end. If it throws,
    ///     the old file stays.
    ///   - progress: Told now and then.
    /// - Throws: what `fill` throws, or a ``DataProtectionError``. Class A: `.locked` if the keychain has been locked for
    ///   longer than ten seconds.
    public func write(
        to url: URL, protection: FileProtection? = nil, options: WriteOptions = [],
        progress: (Progress) -> Void = { _ in }, from fill: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        var failure: (any Error)?
        do throws(DataProtectionError) {
            try create(url, protection, options) { (writer) throws(DataProtectionError) in
                var completed: UInt64 = 0
                var window = window(writer.fileClass)
                while true {
                    let added = try writer.append { (buffer) throws(DataProtectionError) -> Int in
                        do {
                            let count = try fill(buffer)
                            precondition(0...buffer.count ~= count, "more bytes than there was room for")
                            return count
                        } catch {
                            failure = error
                            throw .system("read", url.path, errno: ECANCELED)
                        }
                    }
                    if added == 0 { break }
                    completed += UInt64(added)
                    progress(Progress(completed: completed, total: nil))
                    try window.check(url.path)
                }
                try writer.finish()
            }
        } catch {
            throw failure ?? error
        }
    }

    /// Reads a file of any size from its beginning to its end, in little memory.
    ///
    /// - Parameters:
    ///   - url: A link is followed.
    ///   - consume: Is given one part after the other, each verified. The memory is erased and used again.
    ///   - progress: Told after every part.
    /// - Throws: what `consume` throws, or a ``DataProtectionError``: damage further on is found when it is reached, after
    ///   earlier parts were given out. Class A: `.locked` if the keychain has been locked for longer than ten seconds.
    public func read(
        from url: URL, progress: (Progress) -> Void = { _ in }, into consume: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let file = try OpenFile(reading: try FilePath.of(url))
        try content(of: sealed(file), progress, consume)
    }

    func content(
        of file: SealedFile, _ progress: (Progress) -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let header = try file.current(.continuing).0.header
        var window = window(header.fileClass)
        let groupSize = Int(header.tree.chunkSize) * FileFormat.fanOut
        // No more than there is: all of it is erased afterwards.
        let most = groupSize * max(1, (4 << 20) / groupSize)
        let buffer = ContentBuffer(count: max(1, min(most, Int(clamping: header.length))))
        var offset: UInt64 = 0
        while true {
            let count = try file.read(at: offset, into: buffer.bytes, .continuing)
            if count == 0 { break }
            try consume(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]))
            offset += UInt64(count)
            progress(Progress(completed: offset, total: max(offset, header.length)))
            try window.check(file.path)
        }
    }

    // MARK: Parts

    /// Makes a new file in the place of what is there.
    private func create(
        _ url: URL, _ protection: FileProtection?, _ options: WriteOptions,
        _ write: (SealedFileWriter) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        let path = try FilePath.target(of: try FilePath.of(url))
        guard options.isSubset(of: .known) else {
            throw DataProtectionError(.invalidOption, path, "an option for writing is not defined")
        }
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists && status.st_mode & S_IFMT != S_IFREG { _ = try OpenFile(reading: path) }  // says what it is
        if exists && options.contains(.withoutOverwriting) { throw .system("create", path, errno: EEXIST) }
        let fileClass = try usualProtection(protection, at: path).fileClass
        if exists && status.st_nlink > 1 { try requireNoPlainTwin(path) }
        // Before anything is made: a refusal leaves nothing behind.
        let key = try keys.ask(.make(fileClass, fileID: UUID()), path)
        let new = try Replacement(of: path, mode: 0o666, files)
        try write(
            try SealedFileWriter(
                new.descriptor, path, key: key, chunkBits: chunkBits, files: files, randomness: randomness))
        if exists { try new.takeAccessList(try ExtendedAttributes.value(ExtendedAttributes.accessList, of: path)) }
        if exists { try new.takeAttributes(of: path) }
        if exists { try new.takeModeAndOwner(of: status, mustKeepOwner: false) }
        try new.publish(
            replaces: !options.contains(.withoutOverwriting),
            isDurable: !options.contains(.withoutWaitingForDisk))
    }

    /// - Throws: `.unsupportedFile` for a plain file with several names; `.system` for one that cannot be looked into.
    private func requireNoPlainTwin(_ path: String) throws(DataProtectionError) {
        let file = try OpenFile(reading: path)
        if try !file.isProtected() { try requireOneName(file) }
    }

    /// A file for as long as it is open.
    ///
    /// - Parameter key: If it is known, whatever keychain the file belongs to.
    func sealed(
        _ file: borrowing OpenFile, mayWrite: Bool = false, key: OpenFileKey? = nil
    ) -> SealedFile {
        SealedFile(
            SealedFile.Descriptor(file.descriptor, mayWrite: mayWrite, mustClose: false), file.path, environment(),
            key: key)
    }

    func environment(_ gate: LockGate? = nil) -> SealedFile.Environment {
        let keys = keys
        return SealedFile.Environment(
            keys: keys, gate: gate ?? LockGate(keys, now: now), files: files, randomness: randomness, bootID: bootID)
    }

    func openFiles() -> OpenFiles { OpenFiles.of(keys, now: now) }

    /// Of the whole machine, in bytes.
    private static let memorySize = UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES)))) * UInt64(getpagesize())
}

extension FileHeader {
    var fileClass: FileClass { key.fileClass }
}
