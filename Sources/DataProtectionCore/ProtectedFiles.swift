public import FoundationEssentials
internal import Glibc
public import KeychainClient
internal import KeychainCrypto
internal import KeychainModel
package import KeychainSystem
public import SealedFiles

/// Files that are encrypted on the disk, each with a class that says when it opens.
///
/// ```swift
/// let files = ProtectedFiles()
/// try files.write(Data("draft".utf8), to: url, protection: .complete)
/// let data = try files.read(from: url)          // .locked while the keychain is locked
/// ```
///
/// This process encrypts and decrypts the content. The keychain is asked once for the key of each file. A protected
/// file can be moved, linked and copied like any other file, and opens wherever its keychain is in use. It takes about
/// 4 KiB and 0.4 % more than its content.
///
/// **Threads and programs.** Every function blocks its thread until it is done. All of them may be called from several
/// threads at once and by several programs. A reader gets the old content or the new one, whole, while another program
/// replaces the file.
///
/// **Limits of the protection.** These are *not* protected:
///
/// - the names, sizes and times of files;
/// - content in the memory of programs that have read it;
/// - content that a plain file had before it was encrypted, which may remain on the disk where the file system has put
///   it;
/// - a whole file against being put back as it was, exchanged for another one or deleted, by a program that may write
///   to the directory.
public struct ProtectedFiles: Sendable {
    /// Options for writing a whole file. Without any, the new file replaces an old one and is on the disk afterwards.
    public struct WriteOptions: OptionSet, Sendable {
        /// The bits of the options. A bit that is not defined makes the call throw `.invalidOption`.
        public let rawValue: Int
        /// Makes options of any bits, also of those that are not defined.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Throws `.system` with `EEXIST` if there is a file of that name.
        ///
        /// If several programs write a file of one name at once with this option, one of them succeeds.
        public static let withoutOverwriting = WriteOptions(rawValue: 1)
        /// Returns before the disk has the file.
        ///
        /// After a crash of the system the file may be the old one, or empty. After a crash of the program alone it is
        /// the old one or the new one, whole.
        public static let withoutWaitingForDisk = WriteOptions(rawValue: 2)

        static let known: WriteOptions = [.withoutOverwriting, .withoutWaitingForDisk]
    }

    /// The state of a long operation, which the operation reports after each part.
    public struct Progress: Sendable, Hashable {
        /// The number of content bytes that are done. It may begin at 0 a second time in operations that go through a
        /// file twice.
        public let completed: UInt64
        /// The number of content bytes that there are. It is `nil` where the end is not known yet.
        public let total: UInt64?
    }

    /// `nil` means the connection of the current task or of the process, as it is at the time of a call.
    private let ownConnection: Connection?
    let files: any FileSystem
    let randomness: any Randomness
    private let now: @Sendable () -> ContinuousClock.Instant
    let bootID: UUID
    /// log2 of the chunk size of new files.
    let chunkBits: UInt8
    /// The one file or directory that is meant, as a walk through a tree found it. `nil` means the file that a path
    /// leads to.
    private var found: FileNumber?

    var keys: FileKeys { FileKeys(connection: ownConnection ?? .current) }

    /// Makes files under the keychain that this process uses: see `KeychainConfiguration.processDefault`.
    ///
    /// It opens nothing. A later change of the default takes effect with the next call.
    public init() { self.init(nil, SystemFiles(), SystemRandomness()) }

    /// Makes files under another keychain than the process's own.
    ///
    /// ```swift
    /// var configuration = KeychainConfiguration()
    /// configuration.storeDirectory = URL(filePath: "/var/lib/myserver/keychain")
    /// let files = ProtectedFiles(configuration)
    /// ```
    ///
    /// - Parameter configuration: The other keychain. Each value that is made here opens the store on its own, so make
    ///   one and copy it.
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

    /// Makes files for tests, which can let calls fail, let time pass, restart the system, or make trees with many
    /// levels.
    package init(
        connection: Connection, files: any FileSystem = SystemFiles(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, bootID: UUID? = nil, chunkBits: UInt8? = nil
    ) {
        self.init(
            connection, files, SystemRandomness(), now: now, bootID: bootID ?? Self.bootID,
            chunkBits: chunkBits ?? FileFormat.usualChunkBits)
    }

    /// The number of this start of the system.
    ///
    /// Where the kernel hides that number, a random one stands in for it. Then every file that another process has not
    /// forced to the disk is looked through before it is used.
    private static let bootID = SystemStart.id ?? UUID()

    /// Restricts the value to one file that was found in a tree.
    ///
    /// A change then refuses a link, or another file, that has taken the place of the one that was found.
    ///
    /// - Parameter found: The file that was found. `nil` means the file that the path leads to, for a path that a
    ///   person named.
    package func meaning(_ found: FileNumber?) -> ProtectedFiles {
        var files = self
        files.found = found
        return files
    }

    /// Opens a file that is to be changed.
    ///
    /// - Throws: `.changedMeanwhile` if ``meaning(_:)`` was given another file.
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

    /// Calls `body` with an open directory. Returns false if there is no directory at the path.
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

    /// Writes a file whole or not at all.
    ///
    /// ```swift
    /// try files.write(letter, to: url)                                    // keeps the class of the old file
    /// try files.write(key, to: url, protection: .complete, options: .withoutOverwriting)
    /// ```
    ///
    /// The content goes to a new file beside the old one, which then takes the old one's name, with its mode, its
    /// extended attributes and, where the system allows that, its owner. The call needs space for both files. A program
    /// that is killed meanwhile leaves the old file as it was.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - url: The file. A link is followed, and the file that it leads to is replaced.
    ///   - protection: The class of the new file. `nil` keeps the class of the protected file that is replaced. A file
    ///     without one gets the class that its directory gives to new files (``setProtection(_:of:)``), and otherwise
    ///     ``FileProtection/completeUntilFirstUserAuthentication``.
    ///   - options: The way of writing. Without options the call replaces an old file and waits for the disk.
    /// - Throws: `.locked` if no file of this class can be made now. `.unsupportedFile` if a plain file with several
    ///   names (hard links) is there, since its other names would keep the plain content. `.system` with `ENOSPC` if
    ///   the disk is full. The old file stays in each case. If a protected file with several names is replaced, the
    ///   other names keep the old content.
    public func write(
        _ data: Data, to url: URL, protection: FileProtection? = nil, options: WriteOptions = []
    ) throws(DataProtectionError) {
        try create(url, protection, options) { (writer) throws(DataProtectionError) in
            try data.withBytes { (bytes) throws(DataProtectionError) in try writer.finish(bytes) }
        }
    }

    /// Reads a whole file into memory.
    ///
    /// The content is one version of the file, whole, even while another program writes to it. The memory of the result
    /// is not erased when it is released. For a large file use ``read(from:progress:into:)``.
    ///
    /// - Parameter url: The file. A link is followed.
    /// - Returns: The content; it is empty for a file without content.
    /// - Throws: `.notProtected` for a plain file, `.locked`, `.wrongKey`, `.tampered`, `.truncated`, `.newerFormat` or
    ///   `.keysUnavailable`. `.system` with `ENOENT` if there is no file, and with `EFBIG` if it is larger than this
    ///   machine's memory.
    public func read(from url: URL) throws(DataProtectionError) -> Data {
        let file = try OpenFile(reading: try FilePath.of(url))
        let sealed = sealed(file)
        while true {
            let length = try sealed.current(.continuing).version.header.length
            guard length <= Self.memorySize, let count = Int(exactly: length) else {
                throw .system("read into memory", file.path, errno: EFBIG)
            }
            file.willBeRead()
            let content = try Data.content(ofAtMost: count, file.path) { (target) throws(DataProtectionError) in
                // Another program may write to the file at this moment. The result is one version of it, whole.
                try sealed.readAll(into: target) ? count : nil
            }
            if let content { return content }
        }
    }

    // MARK: Parts at a time

    /// Writes a file of any size with little memory, whole or not at all.
    ///
    /// ```swift
    /// try files.write(to: url, protection: .complete) { target in
    ///     let part = try input.read(upToCount: target.count) ?? Data()
    ///     part.withUnsafeBytes { target.copyMemory(from: $0) }
    ///     return part.count
    /// }
    /// ```
    ///
    /// The new file takes its name at the end, as with ``write(_:to:protection:options:)``. The memory that `fill`
    /// writes to is erased afterwards.
    ///
    /// - Parameters:
    ///   - url: The file. A link is followed, and the file that it leads to is replaced.
    ///   - protection: The class of the new file. `nil` has the meaning that it has in
    ///     ``write(_:to:protection:options:)``.
    ///   - options: The way of writing. Without options the call replaces an old file and waits for the disk.
    ///   - progress: Called after each part, on this thread. The total is not known.
    ///   - fill: Called with memory of up to 4 MiB. It puts the next content at the beginning and returns the number of
    ///     bytes, or 0 at the end. If it throws, the old file stays. A number larger than the memory ends the program.
    /// - Throws: An error of `fill`, or a ``DataProtectionError`` as the other `write` throws it. For the class
    ///   ``FileProtection/complete`` it is `.locked` if the keychain has been locked for longer than ten seconds.
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

    /// Reads a file of any size from its beginning to its end with little memory.
    ///
    /// ```swift
    /// var sum = 0
    /// try files.read(from: url) { part in
    ///     for byte in part { sum += Int(byte) }
    /// }
    /// ```
    ///
    /// Each part is verified before `consume` gets it. Damage further on is found when it is reached, so a program that
    /// acts on early parts must be able to take that back. If another program changes the file in place meanwhile,
    /// later parts are those of the newer version.
    ///
    /// - Parameters:
    ///   - url: The file. A link is followed.
    ///   - progress: Called after each part, on this thread.
    ///   - consume: Called with one part after the other, usually of 4 MiB. The memory is erased and used again, so the
    ///     pointer must not escape.
    /// - Throws: An error of `consume`, or a ``DataProtectionError`` as ``read(from:)`` throws it. For the class
    ///   ``FileProtection/complete`` it is `.locked` if the keychain has been locked for longer than ten seconds.
    public func read(
        from url: URL, progress: (Progress) -> Void = { _ in }, into consume: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let file = try OpenFile(reading: try FilePath.of(url))
        try content(of: sealed(file), progress, consume)
    }

    func content(
        of file: SealedFile, _ progress: (Progress) -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let header = try file.current(.continuing).version.header
        var window = window(header.fileClass)
        let groupSize = Int(header.tree.chunkSize) * FileFormat.fanOut
        // Not larger than the content, since all of it is erased afterwards.
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

    /// Makes a new file in the place of an old one.
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
        // The key comes first, so that a refusal leaves nothing behind.
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

    /// Refuses a plain file that has several names.
    ///
    /// - Throws: `.unsupportedFile` for a plain file with several names; `.system` for a file that cannot be read.
    private func requireNoPlainTwin(_ path: String) throws(DataProtectionError) {
        let file = try OpenFile(reading: path)
        if try !file.isProtected() { try requireOneName(file) }
    }

    /// Makes the object for a file that is open.
    ///
    /// - Parameter key: The file's key if it is known, of any keychain.
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
            keys: KeychainKeySource(keys: keys, gate: gate ?? LockGate(keys, now: now)), files: files,
            randomness: randomness, bootID: bootID)
    }

    func openFiles() -> OpenFiles { OpenFiles.of(keys, now: now) }

    /// The memory of the machine, in bytes.
    private static let memorySize = UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES)))) * UInt64(getpagesize())
}

extension FileHeader {
    var fileClass: FileClass { key.fileClass }
}
