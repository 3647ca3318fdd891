public import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
public import SealedFiles

extension ProtectedFiles {
    /// Encrypts a plain file in its place, or gives a protected one the class. The file keeps its mode, owner, times and
    /// extended attributes.
    ///
    /// ```swift
    /// for url in drafts { try files.protect(url, as: .complete) }
    /// ```
    ///
    /// A protected file of another class gets the class as by ``setProtection(_:of:)``, and without a class it stays as it
    /// is. A plain file is encrypted. At any moment either the plain file or the protected one is there, whole. The call needs space for both.
    ///
    /// The blocks that the plain file had on the disk are given back and *not* overwritten, and backups and snapshots
    /// keep the plain content. Content that must never be on the disk in clear has to be written by
    /// ``write(_:to:protection:options:)`` from the beginning.
    ///
    /// Two writers are not noticed, and their later writes go to the old file, which has no name any more. One opens
    /// the file at the moment in which the new file takes its place. The other is a program of another user that has
    /// the file open, if the file is not this user's or its file system has no leases (fcntl(2)).
    ///
    /// - Parameters:
    ///   - url: The file. A link is followed.
    ///   - protection: The class. `nil` has the meaning that it has in ``write(_:to:protection:options:)``.
    ///   - progress: Called after each part of a plain file, on this thread.
    /// - Returns: Whether the file was a plain one. It is protected, and of the class, in either case.
    /// - Throws: `.unsupportedFile` for a file with several names (hard links), whose other names would keep the plain
    ///   content, and for a file of a user that this one cannot give files to. `.locked` if no file of the class can be
    ///   made now. `.changedMeanwhile` if another program has the file open for writing, or opens it for writing
    ///   meanwhile. Nothing was changed then.
    @discardableResult
    public func protect(
        _ url: URL, as protection: FileProtection? = nil, progress: (Progress) -> Void = { _ in }
    ) throws(DataProtectionError) -> Bool {
        if try encrypt(url, as: protection, progress) { return true }
        if let protection, try self.protection(of: url) != protection { try setProtection(protection, of: url) }
        return false
    }

    /// Encrypts a plain file in its place.
    ///
    /// - Returns: false if the file was protected already.
    func encrypt(
        _ url: URL, as protection: FileProtection?, _ progress: (Progress) -> Void
    ) throws(DataProtectionError) -> Bool {
        guard let conversion = try protecting(url, as: protection, progress) else { return false }
        try conversion.publish()
        return true
    }

    /// Encrypts a plain file beside its place.
    ///
    /// - Returns: `nil` if the file was protected already.
    func protecting(
        _ url: URL, as protection: FileProtection?, _ progress: (Progress) -> Void
    ) throws(DataProtectionError) -> PreparedConversion? {
        let file = try open(url, O_RDONLY)
        if try file.isProtected() { return nil }
        let wanted = try usualProtection(protection, at: file.path)
        return try encrypted(file, wanted, progress)
    }

    /// Decrypts a protected file in its place. The file keeps its mode, owner, times and extended attributes.
    ///
    /// At any moment either the protected file or the plain one is there, whole. Holes stay holes. The plain content is
    /// on the disk in clear afterwards, and a later ``protect(_:as:progress:)`` does not remove it from there.
    ///
    /// - Parameters:
    ///   - url: The file. A link is followed.
    ///   - progress: Called after each part, on this thread.
    /// - Returns: false if the file was a plain one already.
    /// - Throws: The errors of ``read(from:)`` and of ``protect(_:as:progress:)``. Nothing was changed then.
    @discardableResult
    public func unprotect(
        _ url: URL, progress: (Progress) -> Void = { _ in }
    ) throws(DataProtectionError) -> Bool {
        guard let conversion = try unprotecting(url, progress) else { return false }
        try conversion.publish()
        return true
    }

    /// Decrypts a protected file beside its place.
    ///
    /// - Returns: `nil` if the file was a plain one already.
    func unprotecting(
        _ url: URL, _ progress: (Progress) -> Void
    ) throws(DataProtectionError) -> PreparedConversion? {
        let file = try open(url, O_RDONLY)
        let path = file.path
        guard try file.isProtected() else { return nil }
        let exclusion = try WriterExclusion(of: file)
        let sealed = sealed(file)
        _ = try sealed.current(.continuing)
        try requireOneName(file)
        let new = try Replacement(of: path, mode: 0o600, files)
        try new.requirePlace(of: file)
        var failure: DataProtectionError?
        do {
            var offset: UInt64 = 0
            try content(of: sealed, progress) { part in
                try exclusion.checkLease()
                // A hole stays a hole.
                if !part.isZero { try files.writeAll(part, to: new.descriptor, at: offset, path) }
                offset += UInt64(part.count)
            }
            guard files.truncate(new.descriptor, to: Int(offset)) == 0 else {
                throw DataProtectionError.system("write", path)
            }
        } catch let error as DataProtectionError {
            failure = error
        } catch {
            failure = DataProtectionError(.keychain, path, "\(error)")
        }
        if let failure { throw failure }
        return PreparedConversion(of: file, by: new, exclusion)
    }

    private func encrypted(
        _ file: consuming OpenFile, _ protection: FileProtection, _ progress: (Progress) -> Void
    ) throws(DataProtectionError) -> PreparedConversion {
        try requireOneName(file)
        let exclusion = try WriterExclusion(of: file)
        let key = try keys.ask(.make(protection.fileClass, fileID: UUID()), file.path)
        let new = try Replacement(of: file.path, mode: 0o600, files)
        try new.requirePlace(of: file)
        let writer = try SealedFileWriter(new.descriptor, file.path, key: key, files: files, randomness: randomness)
        if file.size <= Self.smallSize {
            try writer.finish(contentOf: file)
            progress(Progress(completed: file.size, total: file.size))
            return PreparedConversion(of: file, by: new, exclusion)
        }
        var window = window(protection.fileClass)
        var offset: UInt64 = 0
        file.willBeRead()
        // The end is that of the moment of opening: a file that a program writes to all the time would have no end.
        while offset < file.size {
            let (descriptor, path, rest) = (file.descriptor, file.path, file.size - offset)
            let added = try writer.append { (buffer) throws(DataProtectionError) in
                let part = buffer.prefix(Int(clamping: rest))
                return try UnsafeMutableRawBufferPointer(rebasing: part).fill(from: descriptor, at: offset, path)
            }
            if added == 0 { break }
            offset += UInt64(added)
            progress(Progress(completed: offset, total: file.size))
            try window.check(file.path)
            try exclusion.checkLease()
        }
        try writer.finish()
        return PreparedConversion(of: file, by: new, exclusion)
    }

    /// A file up to this size is read at once. Memory for parts, which is erased afterwards, would cost more than the
    /// file.
    private static let smallSize: UInt64 = 256 << 10

    /// Refuses a file with several names.
    ///
    /// - Throws: `.unsupportedFile` if the content has other names, which would keep leading to the file that is
    ///   replaced.
    func requireOneName(_ file: borrowing OpenFile) throws(DataProtectionError) {
        guard file.status.st_nlink > 1 else { return }
        throw DataProtectionError(
            .unsupportedFile, file.path,
            "it has \(file.status.st_nlink) names (hard links), and the others would keep the content as it is: remove "
                + "them, or copy the file")
    }

    /// The length of the content that a protected file's header claims. It is not verified.
    package func claimedLength(of url: URL) throws(DataProtectionError) -> UInt64 {
        try OpenFile(reading: try FilePath.of(url)).header().claimed.length
    }

    /// Removes unfinished files that killed programs have left in a directory.
    ///
    /// A program that is killed while it writes a protected file leaves a file with a name like `.keychain-new-` and a
    /// UUID. The content of such a file may be in clear if ``unprotect(_:progress:)`` made it. Files that are still
    /// being written stay, and so do files of other users. Directories below are not visited.
    ///
    /// - Parameter directory: The directory.
    /// - Returns: The number of files that were removed. It is 0 if the directory cannot be read.
    /// - Throws: `.unsupportedFile` or `.system` if the URL names no file. Other failures are skipped.
    @discardableResult
    public func removeLeftovers(in directory: URL) throws(DataProtectionError) -> Int {
        Replacement.sweep(try FilePath.of(directory), files)
    }

    /// Whether a file of this name is still being written, or was left by a program that was killed.
    package static func isUnfinished(_ name: String) -> Bool { Replacement.isName(name) }

    /// Removes the files that calls of this process are writing, for a process that ends now. These calls must not go
    /// on.
    package static func removeUnfinished() { Replacement.removeUnfinished() }
}

extension UnsafeRawBufferPointer {
    /// Whether every byte is zero.
    fileprivate var isZero: Bool {
        guard let first else { return true }
        // The comparison moves by one byte, so every byte is equal to the first one.
        return first == 0 && memcmp(baseAddress!, baseAddress! + 1, count - 1) == 0
    }
}

extension SealedFileWriter {
    /// Writes all of a small file, up to the end that it had when it was opened.
    fileprivate func finish(contentOf file: borrowing OpenFile) throws(DataProtectionError) {
        let buffer = ContentBuffer(count: max(1, Int(file.size)))
        let bytes = buffer.bytes.extracting(..<Int(file.size))
        let count = try bytes.fill(from: file.descriptor, at: 0, file.path)
        try finish(UnsafeRawBufferPointer(bytes.extracting(..<count)))
    }
}
