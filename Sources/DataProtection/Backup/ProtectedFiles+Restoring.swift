public import Foundation
internal import Glibc
@_implementationOnly import KeychainCrypto
internal import KeychainFiles
internal import KeychainModel

extension ProtectedFiles {
    // MARK: Where it is

    /// Brings a file of another keychain under this one, in the place where it is. Its class and its times stay, and
    /// only its header is written: its size does not matter.
    ///
    /// At any moment the file opens with one of the two keychains. After an interruption the same call finishes it.
    ///
    /// - Parameters:
    ///   - url: A link is followed.
    ///   - key: Of the keychain that the file comes from.
    /// - Returns: false if it belongs to this keychain already; then nothing was done.
    /// - Throws: `.wrongKey` for a file of a third keychain, or one under newer keys than the backup key has; `.locked` if
    ///   a file of its class cannot be made now; `.notProtected`, `.truncated`, `.tampered` or `.newerFormat`. The file
    ///   is as it was then.
    @discardableResult
    public func restore(_ url: URL, with key: FileBackupKey) throws(DataProtectionError) -> Bool {
        let path = try FilePath.followingLinks(try FilePath.of(url))
        let file = try OpenFile(path, O_RDWR)
        guard try file.isProtected() else { throw DataProtectionError(.notProtected, path, "it is a plain file") }
        try file.lockHeader()
        guard file.identity.isStillNamed() else {
            throw DataProtectionError(
                .changedMeanwhile, path, "another program has replaced the file meanwhile; nothing was changed")
        }
        let page = try file.firstPage()
        var next = try adoptedHeader(of: file, with: key)
        if next == nil { next = try unfinishedHeader(of: file, page) }
        guard let (header, fileKey) = next else { return false }
        // The new header says that the disk has what it refers to.
        guard files.sync(file.descriptor) == 0 else { throw .system("write", path) }
        // The copy that is in use is replaced last, so that one is whole at any moment.
        let inUse = FileHeader.intactCopies(in: page).lastIndex(of: true) ?? 1
        for slot in [1 - inUse, inUse] {
            try write(header, to: file.descriptor, slot: slot, fileKey, path)
            guard files.sync(file.descriptor) == 0 else { throw .system("write", path) }
        }
        // Its content is as old as it was.
        guard futimens(file.descriptor, [file.status.st_atim, file.status.st_mtim]) == 0 else {
            throw .system("write the times of", path)
        }
        return true
    }

    // MARK: As a copy

    /// Copies a file of another keychain, and the copy belongs to this one. What is said of ``backUp(_:to:progress:)``
    /// about copies holds here too. A file of this keychain is copied as it is.
    ///
    /// - Parameters:
    ///   - url: A link is followed. The file stays as it is.
    ///   - copy: Its directory exists.
    ///   - key: Of the keychain that the file comes from.
    ///   - progress: As in ``backUp(_:to:progress:)``.
    /// - Returns: false if the file is there already, restored before; it is not looked at whether it was changed since.
    /// - Throws: as ``restore(_:with:)``; `.system` with EEXIST if another file has the name, which is never replaced.
    @discardableResult
    public func restore(
        _ url: URL, to copy: URL, with key: FileBackupKey, progress: (Progress) -> Void = { _ in }
    ) throws(DataProtectionError) -> Bool {
        let path = try FilePath.followingLinks(try FilePath.of(url))
        let target = try FilePath.of(copy)
        let shared = try SharedFile(path) { progress(Progress(completed: 0, total: nil)) }
        let claimed = try shared.header().claimed.key
        if let present = try presentCopy(target, of: shared.file) {
            let found = try present.header().claimed.key
            // One of the same file that was not brought here, a mere copy, is no restored one.
            guard found.fileID == claimed.fileID, try isOwn(found, present.path) else {
                throw occupied(target, "another protected file", path)
            }
            return false
        }
        let adopted = try adoptedHeader(of: shared.file, with: key)
        let new = try Replacement(of: target, mode: 0o600, files)
        try copyBytes(of: shared, to: new, progress)
        if let (header, fileKey) = adopted {
            for slot in FileFormat.slotOffsets.indices {
                try write(header, to: new.descriptor, slot: slot, fileKey, target)
            }
        }
        try new.takeEverything(of: shared.file, mustKeepOwner: false)
        try new.takeTimes(of: shared.file)
        try shared.requireUnchanged()
        try new.publish(replaces: false, isDurable: true)
        return true
    }

    // MARK: Headers

    /// The header that a restored file begins with; nil: the file belongs to this keychain already.
    ///
    /// - Throws: as ``restore(_:with:)``.
    private func adoptedHeader(
        of file: borrowing OpenFile, with key: FileBackupKey
    ) throws(DataProtectionError) -> (FileHeader, KeyMaterial)? {
        let unverified = try headerToRestore(of: file)
        let claimed = unverified.claimed.key
        if try isOwn(claimed, file.path) { return nil }
        guard claimed.storeID == key.keychain else {
            throw DataProtectionError(
                .wrongKey, file.path,
                "it belongs to keychain \(claimed.storeID.uuidString.lowercased()), and the backup key is that of "
                    + "\(key.keychain.uuidString.lowercased()): restore it with the backup key of its own keychain")
        }
        let secret = try key.unwrap(claimed, file.path)
        let fileKey = try KeyMaterial(secret, file.path)
        var header: FileHeader
        do throws(FileFormatError) {
            header = try unverified.verified(fileKey: fileKey)
        } catch {
            throw DataProtectionError(error, file.path)
        }
        try header.requireStoredSize(of: file.descriptor, file.path)
        let adopted = try keys.ask(.adopt(secret, header.fileClass, fileID: header.key.fileID), file.path)
        header.key = adopted.wrapped
        header.sequence += 1
        header.bootMark = FileHeader.BootMark()
        return (header, fileKey)
    }

    /// The header that counts when a file comes from another machine.
    private func headerToRestore(of file: borrowing OpenFile) throws(DataProtectionError) -> UnverifiedFileHeader {
        try file.header()
    }

    /// What is left to be written of a file that belongs to this keychain: an interrupted call has changed one copy of the
    /// header alone, and the other one is still under the former keychain's key, or broken. nil: nothing.
    private func unfinishedHeader(
        of file: borrowing OpenFile, _ page: Data
    ) throws(DataProtectionError) -> (FileHeader, KeyMaterial)? {
        let result = Result { () throws(FileFormatError) in try FileHeader.inFirstPage(page) }
        guard let (newest, former) = try? result.get(), newest.claimed.isDurable,
            FileHeader.intactCopies(in: page) != [true, true],
            former?.claimed.key.storeID != newest.claimed.key.storeID
        else { return nil }
        let (header, fileKey): (FileHeader, KeyMaterial)
        do throws(DataProtectionError) {
            (header, fileKey) = try openHeader(of: file)
        } catch {
            // It is this keychain's: that it does not open now is nothing that a restore could mend.
            guard error.code == .locked else { throw error }
            return nil
        }
        var next = header
        next.sequence += 1
        return (next, fileKey)
    }

    /// Whether a key is this keychain's, and there is a class key for it.
    private func isOwn(_ key: WrappedFileKey, _ path: String) throws(DataProtectionError) -> Bool {
        do throws(DataProtectionError) {
            _ = try keys.ask(.open(key), path)
            return true
        } catch {
            switch error.code {
            case .locked: return true
            case .wrongKey: return false
            default: throw error
            }
        }
    }

    private func write(
        _ header: FileHeader, to descriptor: Int32, slot: Int, _ fileKey: KeyMaterial, _ path: String
    ) throws(DataProtectionError) {
        let result = header.encoded(fileKey: fileKey, slot: slot).withUnsafeBytes { bytes in
            Result { () throws(DataProtectionError) in
                try files.writeAll(bytes, to: descriptor, at: UInt64(FileFormat.slotOffsets[slot]), path)
            }
        }
        try result.get()
    }
}
