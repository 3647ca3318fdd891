public import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
public import SealedFiles

extension ProtectedFiles {
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
            try consume(UnsafeRawBufferPointer(buffer.bytes.extracting(..<count)))
            offset += UInt64(count)
            progress(Progress(completed: offset, total: max(offset, header.length)))
            try window.check(file.path)
        }
    }

    // MARK: Their steps

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

    /// The memory of the machine, in bytes.
    private static let memorySize = UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES)))) * UInt64(getpagesize())
}
