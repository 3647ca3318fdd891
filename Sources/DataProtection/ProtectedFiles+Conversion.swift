public import Foundation
internal import Glibc
@_implementationOnly import KeychainCrypto
internal import KeychainFiles
internal import KeychainModel

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
    ///   `.changedMeanwhile` if another program has written to it.
    @discardableResult
    public func protect(
        _ url: URL, as protection: FileProtection? = nil, progress: (Progress) -> Void = { _ in }
    ) throws(DataProtectionError) -> Bool {
        let path = try FilePath.followingLinks(try FilePath.of(url))
        let file = try OpenFile(reading: path)
        if try file.isProtected() { return false }
        try encrypt(file, try usualProtection(protection, at: path), progress)
        return true
    }

    /// Decrypts a protected file, in the place where it is. It keeps its mode, owner, times and extended attributes.
    ///
    /// - Returns: false if it was a plain file already; then nothing was done.
    /// - Throws: as ``read(from:)``, and as ``protect(_:as:progress:)``.
    @discardableResult
    public func unprotect(
        _ url: URL, progress: (Progress) -> Void = { _ in }
    ) throws(DataProtectionError) -> Bool {
        let path = try FilePath.followingLinks(try FilePath.of(url))
        let file = try OpenFile(reading: path)
        guard try file.isProtected() else { return false }
        let sealed = sealed(file)
        _ = try sealed.current(.continuing)
        try requireOneName(file)
        let new = try Replacement(of: path, mode: 0o600, files)
        var failure: DataProtectionError?
        do {
            var offset: UInt64 = 0
            try content(of: sealed, progress) { part in
                try files.writeAll(part, to: new.descriptor, at: offset, path)
                offset += UInt64(part.count)
            }
        } catch let error as DataProtectionError {
            failure = error
        } catch {
            failure = DataProtectionError(.keychain, path, "\(error)")
        }
        if let failure { throw failure }
        try replace(file, by: new)
        return true
    }

    func encrypt(
        _ file: borrowing OpenFile, _ protection: FileProtection, _ progress: (Progress) -> Void
    ) throws(DataProtectionError) {
        try requireOneName(file)
        let key = try keys.ask(.make(protection.fileClass, fileID: UUID()), file.path)
        let new = try Replacement(of: file.path, mode: 0o600, files)
        let writer = try SealedFileWriter(new.descriptor, file.path, key: key, files: files, randomness: randomness)
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
        }
        try writer.finish()
        try replace(file, by: new)
    }

    /// Gives a new file all that the old one is besides its content, and its place.
    private func replace(_ file: borrowing OpenFile, by new: consuming Replacement) throws(DataProtectionError) {
        try new.takeEverything(of: file)
        try new.takeTimes(of: file)
        let (identity, path) = (file.identity, file.path)
        try new.publish(isDurable: true) { () throws(DataProtectionError) in
            guard identity.isUnchanged() else {
                throw DataProtectionError(
                    .changedMeanwhile, path, "another program has written to it meanwhile; nothing was changed")
            }
        }
    }

    /// - Throws: `.unsupportedFile` if the same content has other names, which would go on leading to what is replaced.
    private func requireOneName(_ file: borrowing OpenFile) throws(DataProtectionError) {
        guard file.status.st_nlink > 1 else { return }
        throw DataProtectionError(
            .unsupportedFile, file.path,
            "it has \(file.status.st_nlink) names (hard links), and the others would keep the content as it is: remove "
                + "them, or copy the file")
    }

    /// Removes what programs left in a directory that were killed while they wrote a protected file there.
    ///
    /// - Returns: how many files there were.
    @discardableResult
    public func removeLeftovers(in directory: URL) throws(DataProtectionError) -> Int {
        Replacement.sweep(try FilePath.of(directory), files)
    }
}
