package import FoundationEssentials
internal import Glibc
public import KeychainClient
internal import KeychainCrypto
internal import KeychainModel
package import KeychainSystem
internal import SealedFiles

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
    let randomness: any Randomness = SystemRandomness()
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
    public init() { self.init(connection: nil) }

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
    public init(_ configuration: KeychainConfiguration) { self.init(connection: Connection(configuration)) }

    /// Makes files for tests, which can let calls fail, let time pass, restart the system, or make trees with many
    /// levels.
    ///
    /// - Parameter connection: `nil` means the connection of the current task or of the process.
    package init(
        connection: Connection?, files: any FileSystem = SystemFiles(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, bootID: UUID? = nil, chunkBits: UInt8? = nil
    ) {
        ownConnection = connection
        self.files = files
        self.now = now
        self.bootID = bootID ?? Self.bootID
        self.chunkBits = chunkBits ?? FileFormat.usualChunkBits
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
}

extension FileHeader {
    var fileClass: FileClass { key.fileClass }
}
