public import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
public import SealedFiles

extension ProtectedFiles {
    /// The purpose for which a file is opened.
    public enum Access: Sendable, Hashable, CaseIterable {
        /// The handle reads. Calls that change the file throw `.system` with `EBADF`.
        case reading
        /// The handle reads and writes.
        ///
        /// A change of a part of a chunk, which has 16 KiB, has to read the bytes around it. So the class must allow
        /// reading too.
        case writing
    }

    /// Options for opening a file. All of them need ``Access/writing``.
    public struct OpenOptions: OptionSet, Sendable {
        /// The bits of the options. A bit that is not defined makes the call throw `.invalidOption`.
        public let rawValue: Int
        /// Makes options of any bits, also of those that are not defined.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Makes the file if there is none.
        ///
        /// A new file appears whole under its name. It survives a power cut after the first `sync()` of the handle.
        public static let create = OpenOptions(rawValue: 1)
        /// Throws `.system` with `EEXIST` if there is a file. It goes with ``create`` alone.
        ///
        /// If several programs make a file at once with this option, one of them succeeds.
        public static let exclusive = OpenOptions(rawValue: 2)
        /// Removes the content of the file when it is opened. The file keeps its class and its key.
        public static let truncate = OpenOptions(rawValue: 4)
        /// Makes each ``ProtectedFileHandle/write(contentsOf:)`` go to the end of the file, wherever that is at this
        /// moment.
        public static let append = OpenOptions(rawValue: 8)

        fileprivate static let known: OpenOptions = [.create, .exclusive, .truncate, .append]
    }

    /// Opens a protected file, to read and change parts of it for as long as it is open.
    ///
    /// ```swift
    /// let log = try files.open(url, for: .writing, options: [.create, .append], protection: .completeUnlessOpen)
    /// try log.write(contentsOf: Data("started\n".utf8))
    /// try log.sync()                    // from here on it survives a power cut
    /// ```
    ///
    /// A new file of the class ``FileProtection/completeUnlessOpen`` can be made while the keychain is locked. It can
    /// be read and written with this handle until that is closed, and does not open again before the unlock.
    ///
    /// - Parameters:
    ///   - url: The file. A link is followed.
    ///   - access: The purpose. A handle for reading is the default.
    ///   - options: Options for writing. Without options the file must be there.
    ///   - protection: The class of a file that is made. `nil` has the meaning that it has in
    ///     ``ProtectedFiles/write(_:to:protection:options:)``. A file that is there keeps its class.
    /// - Returns: An open file. Dropping the handle closes it without waiting for the disk.
    /// - Throws: `.notProtected` for a plain file, including an empty one: ``protect(_:as:progress:)`` encrypts it.
    ///   `.locked` if files of the class do not open now, or cannot be made. `.invalidOption` for options that need
    ///   writing or ``OpenOptions/create``. `.system` with `ENOENT` if there is no file, and with `EACCES` if the mode
    ///   forbids it. No file was made then.
    public func open(
        _ url: URL, for access: Access = .reading, options: OpenOptions = [], protection: FileProtection? = nil
    ) throws(DataProtectionError) -> ProtectedFileHandle {
        let path = try FilePath.target(of: try FilePath.of(url))
        guard options.isSubset(of: .known), access == .writing || options.isEmpty,
            !options.contains(.exclusive) || options.contains(.create)
        else {
            throw DataProtectionError(
                .invalidOption, path, "an option for opening is not defined, or goes with others or writing alone")
        }
        let handle = try openOrMake(path, access, options, protection)
        if options.contains(.truncate) { try handle.truncate(to: 0) }
        return handle
    }

    private func openOrMake(
        _ path: String, _ access: Access, _ options: OpenOptions, _ protection: FileProtection?
    ) throws(DataProtectionError) -> ProtectedFileHandle {
        // Another program may make or remove the file between two steps.
        for _ in 0..<8 {
            if !options.contains(.exclusive) {
                do throws(DataProtectionError) {
                    return try openPresent(path, access, options)
                } catch {
                    guard error.errno == ENOENT, options.contains(.create) else { throw error }
                }
            }
            do throws(DataProtectionError) {
                return try make(path, options, protection)
            } catch {
                guard error.errno == EEXIST, !options.contains(.exclusive) else { throw error }
            }
        }
        throw .system("create", path, errno: EEXIST)
    }

    private func openPresent(
        _ path: String, _ access: Access, _ options: OpenOptions
    ) throws(DataProtectionError) -> ProtectedFileHandle {
        let file = try OpenFile(path, access == .writing ? O_RDWR : O_RDONLY)
        return try handle(
            try duplicate(file.descriptor, path, mayWrite: access == .writing), path,
            appends: options.contains(.append))
    }

    /// Makes the handle for an open file, and finds out whether the file opens now and is a protected one.
    func handle(
        _ file: SealedFile.Descriptor, _ path: String, key: OpenFileKey? = nil, appends: Bool = false,
        madeIn directory: String? = nil
    ) throws(DataProtectionError) -> ProtectedFileHandle {
        let open = openFiles()
        let sealed = SealedFile(file, path, environment(open.gate), key: key)
        let handle = ProtectedFileHandle(sealed, open, appends: appends, madeIn: directory)
        _ = try sealed.current()
        return handle
    }

    /// Another descriptor of an open file, for a handle.
    private func duplicate(
        _ file: Int32, _ path: String, mayWrite: Bool
    ) throws(DataProtectionError) -> SealedFile.Descriptor {
        let duplicate = fcntl(file, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { throw .system("open", path) }
        return SealedFile.Descriptor(duplicate, mayWrite: mayWrite, mustClose: true)
    }

    private func make(
        _ path: String, _ options: OpenOptions, _ protection: FileProtection?
    ) throws(DataProtectionError) -> ProtectedFileHandle {
        let fileClass = try usualProtection(protection, at: path).fileClass
        // The key comes first, so that a refusal leaves nothing behind.
        let made = try keys.ask(.make(fileClass, fileID: UUID()), path)
        let new = try Replacement(of: path, mode: 0o666, files)
        let key = try writeFirstHeader(made, to: new.descriptor, path)
        let descriptor = try duplicate(new.descriptor, path, mayWrite: true)
        // The keychain may have been locked since the key was made. Nothing is left behind in that case either.
        let handle = try handle(
            descriptor, path, key: key, appends: options.contains(.append), madeIn: FilePath.directory(of: path))
        // A name can reach the disk before the file that it names. A file without a header would not open.
        guard files.syncData(new.descriptor) == 0 else { throw .system("write", path) }
        try new.publish(replaces: false, isDurable: false)
        // The lock marks files that are still being written, and this one is finished. On file systems where such a
        // lock is one of bytes, it would keep other programs from writing.
        flock(descriptor.number, LOCK_UN)
        return handle
    }
}
