public import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

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
        let file = try open(url, O_RDWR)
        let path = file.path
        guard try file.isProtected() else { throw DataProtectionError(.notProtected, path, "it is a plain file") }
        let (identity, descriptor) = (file.identity, file.descriptor)
        func requireStillNamed() throws(DataProtectionError) {
            guard identity.isStillNamed() else {
                throw DataProtectionError(
                    .changedMeanwhile, path, "another program has replaced the file meanwhile; nothing was changed")
            }
            // The new header says that the disk has what it refers to, which may have been copied here just now.
            guard files.sync(descriptor) == 0 else { throw .system("write", path) }
        }
        if let foreign = try foreignKey(of: file, with: key) {
            let sealed = sealed(file, mayWrite: true, key: foreign.key)
            try sealed.rewrap(.continuing, isStillRight: requireStillNamed) { (header) throws(DataProtectionError) in
                try keys.ask(.adopt(foreign.secret, header.fileClass, fileID: header.key.fileID), path).wrapped
            }
        } else {
            guard try isUnfinished(file) else { return false }
            do throws(DataProtectionError) {
                let sealed = sealed(file, mayWrite: true)
                try sealed.rewrap(.continuing, isStillRight: requireStillNamed) {
                    (header) throws(DataProtectionError) in header.key
                }
            } catch {
                // It is this keychain's: that it does not open now is nothing that a restore could mend.
                guard error.code == .locked else { throw error }
                return false
            }
        }
        // Its content is as old as it was.
        guard futimens(file.descriptor, [file.status.st_atim, file.status.st_mtim]) == 0 else {
            throw .system("write the times of", path)
        }
        return true
    }

    // MARK: As a copy

    /// Copies a file of another keychain, and the copy belongs to this one. What is said of ``backUp(_:to:progress:)``
    /// about copies holds here too, but that owner, access list and the rights of others to write are not taken: nothing of
    /// them is authenticated. A file of this keychain is copied as it is.
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
        let path = try FilePath.target(of: try FilePath.of(url))
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
        try new.takeWhatIsHarmless(of: shared.file)
        try new.takeTimes(of: shared.file)
        try shared.requireUnchanged()
        try new.publish(replaces: false, isDurable: true)
        return true
    }

    // MARK: Headers

    /// The header that a restored copy begins with; nil: the file belongs to this keychain already.
    ///
    /// - Throws: as ``restore(_:with:)``.
    private func adoptedHeader(
        of file: borrowing OpenFile, with key: FileBackupKey
    ) throws(DataProtectionError) -> (FileHeader, KeyMaterial)? {
        guard let foreign = try foreignKey(of: file, with: key) else { return nil }
        // Nobody writes to it meanwhile.
        var header = try sealed(file, key: foreign.key).current(.continuing, isLocked: true).0.header
        header.key = try keys.ask(
            .adopt(foreign.secret, header.fileClass, fileID: header.key.fileID), file.path
        ).wrapped
        header.sequence += 1
        header.bootMark = FileHeader.BootMark()
        return (header, foreign.key.fileKey)
    }

    /// The key of a file of another keychain; nil: it belongs to this one already.
    private func foreignKey(
        of file: borrowing OpenFile, with backup: FileBackupKey
    ) throws(DataProtectionError) -> (key: OpenFileKey, secret: SecretBytes)? {
        let claimed = try file.header().claimed.key
        if try isOwn(claimed, file.path) { return nil }
        guard claimed.storeID == backup.keychain else {
            throw DataProtectionError(
                .wrongKey, file.path,
                "it belongs to keychain \(claimed.storeID.uuidString.lowercased()), and the backup key is that of "
                    + "\(backup.keychain.uuidString.lowercased()): restore it with the backup key of its own keychain")
        }
        let secret = try backup.unwrap(claimed, file.path)
        let key = OpenFileKey(
            try KeyMaterial(secret, file.path), fileID: claimed.fileID, bootID: environment().bootID)
        return (key, secret)
    }

    /// Whether an interrupted call has changed one copy of the header of a file that belongs to this keychain, and the
    /// other one is still under the former keychain's key, or broken.
    private func isUnfinished(_ file: borrowing OpenFile) throws(DataProtectionError) -> Bool {
        let page = try file.firstPage()
        let result = Result { () throws(FileFormatError) in try FileHeader.inFirstPage(page) }
        guard let pair = try? result.get(), pair.newest.claimed.isDurable,
            FileHeader.intactCopies(in: page) != [true, true]
        else { return false }
        return pair.former?.claimed.key.storeID != pair.newest.claimed.key.storeID
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
