public import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

extension ProtectedFiles {
    /// What a file is opened for.
    public enum Access: Sendable, Hashable, CaseIterable {
        case reading
        /// Reading, too: to change a part of a chunk of 16 KiB, what is around it has to be read.
        case writing
    }

    /// How a file is opened.
    public struct OpenOptions: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Makes the file if there is none. It is on the disk, with its name, after the first `sync()` of
        /// the handle.
        public static let create = OpenOptions(rawValue: 1)
        /// With ``create``: an error (EEXIST) if there is one. Of several programs that do this at once, one succeeds.
        public static let exclusive = OpenOptions(rawValue: 2)
        /// Takes away what is in the file.
        public static let truncate = OpenOptions(rawValue: 4)
        /// Each ``ProtectedFileHandle/write(contentsOf:)`` goes to the end, wherever that is by then.
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
    /// - Parameters:
    ///   - url: A link is followed.
    ///   - access: Nothing but ``Access/reading`` unless said.
    ///   - options: None: the file must be there.
    ///   - protection: Of a file that is made; nil: what is usual there, as in ``write(_:to:protection:options:)``.
    /// - Throws: `.notProtected` for a plain file, also for an empty one: ``protect(_:as:progress:)`` encrypts it.
    ///   `.locked` if the file's class does not open now, or no file of the class can be made. Class B can be made while
    ///   locked, and what is made so can be read and written until it is closed.
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
        // Somebody may make or remove it between two steps.
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
        let open = openFiles()
        let sealed = SealedFile(
            SealedFile.Descriptor(try file.duplicate(), mayWrite: access == .writing, mustClose: true), path,
            environment(open.gate))
        let handle = ProtectedFileHandle(sealed, open, appends: options.contains(.append), madeIn: nil)
        // Whether it opens, and is a protected file at all.
        _ = try sealed.current()
        return handle
    }

    private func make(
        _ path: String, _ options: OpenOptions, _ protection: FileProtection?
    ) throws(DataProtectionError) -> ProtectedFileHandle {
        let fileClass = try usualProtection(protection, at: path).fileClass
        // Before anything is made: a refusal leaves nothing behind.
        let made = try keys.ask(.make(fileClass, fileID: UUID()), path)
        let new = try Replacement(of: path, mode: 0o666, files)
        let open = openFiles()
        let environment = environment(open.gate)
        let key = OpenFileKey(
            try KeyMaterial(made.key, path), fileID: made.wrapped.fileID, bootID: environment.bootID)
        try SealedFile.writeFirstPage(of: made.wrapped, key, chunkBits, to: new.descriptor, path, files)
        let descriptor = SealedFile.Descriptor(try new.duplicate(), mayWrite: true, mustClose: true)
        let sealed = SealedFile(descriptor, path, environment, key: key)
        let handle = ProtectedFileHandle(
            sealed, open, appends: options.contains(.append), madeIn: FilePath.directory(of: path))
        // Locked since the key was made: nothing is left behind either.
        _ = try sealed.current()
        // A name can reach the disk before what it names, and a file without a header is one that does not open.
        guard files.syncData(new.descriptor) == 0 else { throw .system("write", path) }
        try new.publish(replaces: false, isDurable: false)
        // Nobody has to tell it from what killed programs leave any more. Where such a lock is one of bytes, it would
        // keep others from writing.
        flock(descriptor.number, LOCK_UN)
        return handle
    }
}

extension OpenFile {
    /// Another number for the same open file.
    fileprivate func duplicate() throws(DataProtectionError) -> Int32 { try FilePath.duplicate(descriptor, path) }
}

extension Replacement {
    /// Another number for the same open file, which nobody has to tell from leftovers any more.
    fileprivate func duplicate() throws(DataProtectionError) -> Int32 { try FilePath.duplicate(descriptor, path) }
}

extension FilePath {
    fileprivate static func duplicate(_ descriptor: Int32, _ path: String) throws(DataProtectionError) -> Int32 {
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { throw .system("open", path) }
        return duplicate
    }
}

extension SealedFile {
    /// The header of a file without content, that will be changed in place.
    fileprivate static func writeFirstPage(
        of wrapped: WrappedFileKey, _ key: OpenFileKey, _ chunkBits: UInt8, to file: Int32, _ path: String,
        _ files: any FileSystem
    ) throws(DataProtectionError) {
        let header = FileHeader(
            key: wrapped, chunkBits: chunkBits, isChangedInPlace: true, length: 0,
            storedSize: UInt64(FileFormat.headerByteCount), writeCount: 0, root: nil, usedPages: 0)
        var page = Data(count: FileFormat.headerByteCount)
        for (number, offset) in FileFormat.slotOffsets.enumerated() {
            let slot = header.encoded(fileKey: key.fileKey, slot: number)
            page.replaceSubrange(offset..<(offset + slot.count), with: slot)
        }
        try page.withUnsafeBytes { bytes in
            Result { () throws(DataProtectionError) in try files.writeAll(bytes, to: file, at: 0, path) }
        }.get()
    }
}
