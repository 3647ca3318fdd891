public import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

extension ProtectedFiles {
    /// Encrypts a plain file, in the place where it is. It keeps its mode, owner, times and extended attributes.
    ///
    /// At any moment either the plain file or the protected one is there, whole. What the plain file has occupied on the
    /// disk is given back, not overwritten.
    ///
    /// - Parameters:
    ///   - url: A link is followed.
    ///   - protection: nil: as in ``write(_:to:protection:options:)``.
    ///   - progress: Told now and then.
    /// - Returns: false if it was protected already; then nothing was done.
    /// - Throws: `.unsupportedFile` for a file with several names: the others would keep the plain content.
    ///   `.changedMeanwhile` if another program has it open for writing, or opens it so meanwhile. A program that opens it
    ///   in the moment in which the new file takes its place writes to the old one, which has no name any more; so does one
    ///   of another user that has it open, if the file is not this user's or its file system has no leases (fcntl(2)).
    @discardableResult
    public func protect(
        _ url: URL, as protection: FileProtection? = nil, progress: (Progress) -> Void = { _ in }
    ) throws(DataProtectionError) -> Bool {
        guard let conversion = try protecting(url, as: protection, progress) else { return false }
        try conversion.publish()
        return true
    }

    /// Encrypts a plain file beside the place where it is.
    ///
    /// - Returns: nil if it was protected already.
    func protecting(
        _ url: URL, as protection: FileProtection?, _ progress: (Progress) -> Void
    ) throws(DataProtectionError) -> PreparedConversion? {
        let file = try open(url, O_RDONLY)
        if try file.isProtected() { return nil }
        let wanted = try usualProtection(protection, at: file.path)
        return try encrypted(file, wanted, progress)
    }

    /// Decrypts a protected file, in the place where it is. It keeps its mode, owner, times and extended attributes.
    ///
    /// - Returns: false if it was a plain file already; then nothing was done.
    /// - Throws: as ``read(from:)``, and as ``protect(_:as:progress:)``.
    @discardableResult
    public func unprotect(
        _ url: URL, progress: (Progress) -> Void = { _ in }
    ) throws(DataProtectionError) -> Bool {
        guard let conversion = try unprotecting(url, progress) else { return false }
        try conversion.publish()
        return true
    }

    /// Decrypts a protected file beside the place where it is.
    ///
    /// - Returns: nil if it was a plain file already.
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
                // A hole stays one.
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

    func encrypt(
        _ file: consuming OpenFile, _ protection: FileProtection, _ progress: (Progress) -> Void
    ) throws(DataProtectionError) {
        try encrypted(file, protection, progress).publish()
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
        if file.size > 1 << 20 { posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_SEQUENTIAL) }
        // As far as it went when it was opened: one that somebody writes to all the time would have no end.
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

    /// Up to here a file is read at once: memory for parts, which is erased afterwards, would take longer than the file.
    private static let smallSize: UInt64 = 256 << 10

    /// - Throws: `.unsupportedFile` if the same content has other names, which would go on leading to what is replaced.
    func requireOneName(_ file: borrowing OpenFile) throws(DataProtectionError) {
        guard file.status.st_nlink > 1 else { return }
        throw DataProtectionError(
            .unsupportedFile, file.path,
            "it has \(file.status.st_nlink) names (hard links), and the others would keep the content as it is: remove "
                + "them, or copy the file")
    }

    /// How much content a protected file claims to have, whatever it takes of the disk. Nobody has vouched for it.
    package func claimedLength(of url: URL) throws(DataProtectionError) -> UInt64 {
        try OpenFile(reading: try FilePath.of(url)).header().claimed.length
    }

    /// Removes what programs left in a directory that were killed while they wrote a protected file there.
    ///
    /// - Returns: how many files there were.
    @discardableResult
    public func removeLeftovers(in directory: URL) throws(DataProtectionError) -> Int {
        Replacement.sweep(try FilePath.of(directory), files)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether every byte is.
    fileprivate var isZero: Bool {
        guard let first else { return true }
        // Each byte is like the one before it.
        return first == 0 && memcmp(baseAddress!, baseAddress! + 1, count - 1) == 0
    }
}

extension SealedFileWriter {
    /// Writes all of a small file, as far as it went when it was opened.
    fileprivate func finish(contentOf file: borrowing OpenFile) throws(DataProtectionError) {
        let buffer = ContentBuffer(count: max(1, Int(file.size)))
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<Int(file.size)])
        let count = try bytes.fill(from: file.descriptor, at: 0, file.path)
        try finish(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }
}
