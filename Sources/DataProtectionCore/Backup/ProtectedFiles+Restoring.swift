public import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
public import SealedFiles

extension ProtectedFiles {
    // MARK: Where it is

    /// Brings a file of another keychain under this one, in its place.
    ///
    /// ```swift
    /// let key = try FileBackupKey(contentsOf: keyFile, passphrase: passphrase)
    /// for url in copies { try files.restore(url, with: key) }
    /// ```
    ///
    /// The class and the times of the file stay. Only the header is written, so a large file takes no longer than a
    /// small one. At any moment the file opens with one of the two keychains, and repeating the call finishes one that
    /// was interrupted.
    ///
    /// The file's key stays. A program that has the backup key and an old copy of the header can still open the file.
    ///
    /// - Parameters:
    ///   - url: The file. A link is followed.
    ///   - key: The backup key of the keychain that the file comes from.
    /// - Returns: false if the file belongs to this keychain already.
    /// - Throws: `.wrongKey` for a file of a third keychain, or one that is under newer keys than the backup key has.
    ///   `.locked` if no file of its class can be made now. `.notProtected`, `.truncated`, `.tampered` or
    ///   `.newerFormat`. `.changedMeanwhile` if another program replaces the file. The file was not changed then.
    @discardableResult
    public func restore(_ url: URL, with key: FileBackupKey) throws(DataProtectionError) -> Bool {
        let file = try open(url, O_RDWR)
        let path = file.path
        guard try file.isProtected() else { throw DataProtectionError(.notProtected, path, "it is a plain file") }
        let (identity, descriptor) = (file.identity, file.descriptor)
        func requireStillNamed() throws(DataProtectionError) {
            try identity.requireStillNamed()
            // The new header claims that the disk has everything it refers to. The file may have been copied here a
            // moment ago.
            guard files.sync(descriptor) == 0 else { throw .system("write", path) }
        }
        if let foreign = try foreignKey(of: file, with: key) {
            let sealed = sealed(file, mayWrite: true, key: foreign.key)
            try sealed.rewrap(.continuing, isStillRight: requireStillNamed) { (header) throws(DataProtectionError) in
                try keys.ask(.adopt(foreign.secret, header.fileClass, fileID: header.key.fileID), path).wrapped
            }
        } else {
            guard try file.headers().mayBeHalfAdopted else { return false }
            do throws(DataProtectionError) {
                try sealed(file, mayWrite: true).rewrap(.continuing, isStillRight: requireStillNamed, \.key)
            } catch {
                // The file belongs to this keychain, and a restore cannot help against a lock.
                guard error.code == .locked else { throw error }
                return false
            }
        }
        // The time of modification is that of the content, which has not changed.
        try FilePath.setTimes(of: file.status, file.descriptor, path)
        return true
    }

    // MARK: As a copy

    /// Copies a file of another keychain, and brings the copy under this one.
    ///
    /// The copy gets the times, the users' extended attributes and the mode of the file. Owner, access list and the
    /// right of others to write are not copied, since nothing of them is authenticated. A file of this keychain is
    /// copied as it is. The copy appears whole or not at all, and is on the disk when the call returns.
    ///
    /// - Parameters:
    ///   - url: The file, which stays as it is. A link is followed.
    ///   - copy: The place of the copy. Its directory must exist.
    ///   - key: The backup key of the keychain that the file comes from.
    ///   - progress: Called after each part, on this thread, and also while the call waits for another program that
    ///     writes.
    /// - Returns: false if the file was restored to that place before. The call does not look whether it was changed
    ///   since.
    /// - Throws: The errors of ``restore(_:with:)``. `.system` with `EEXIST` if another file has the name, which is
    ///   never replaced, and with `ENOSPC` if the disk has no room.
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
            // A mere copy of the file, which was not brought under this keychain, does not count as restored.
            guard found.fileID == claimed.fileID, try isOwn(found, present.path) else {
                throw occupied(target, "another protected file", path)
            }
            return false
        }
        let adopted = try adoptedHeader(of: shared.file, with: key)
        let new = try Replacement(of: target, mode: 0o600, files)
        try copyBytes(of: shared, to: new, progress)
        if let (header, fileKey) = adopted {
            try HeaderWriter(file: new.descriptor, path: target, fileKey: fileKey, files: files).writePage(header)
        }
        try new.takeWhatIsHarmless(of: shared.file)
        try new.takeTimes(of: shared.file)
        try shared.requireUnchanged()
        try new.publish(replaces: false, isDurable: true)
        return true
    }

    // MARK: Headers

    /// Makes the header that a restored copy begins with.
    ///
    /// - Returns: `nil` if the file belongs to this keychain already.
    /// - Throws: The errors of ``restore(_:with:)``.
    private func adoptedHeader(
        of file: borrowing OpenFile, with key: FileBackupKey
    ) throws(DataProtectionError) -> (FileHeader, KeyMaterial)? {
        guard let foreign = try foreignKey(of: file, with: key) else { return nil }
        // The caller holds the lock that keeps others from writing.
        var header = try sealed(file, key: foreign.key).current(.continuing, isLocked: true).version.header
        header.key = try keys.ask(
            .adopt(foreign.secret, header.fileClass, fileID: header.key.fileID), file.path
        ).wrapped
        header.sequence += 1
        header.bootMark = FileHeader.BootMark()
        return (header, foreign.key.fileKey)
    }

    /// Opens the key of a file of another keychain.
    ///
    /// - Returns: `nil` if the file belongs to this keychain already.
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

    /// Whether a key belongs to this keychain, which has a class key for it.
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
}
