public import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// What is known of a protected file without opening it.
public struct ProtectedFileInfo: Sendable {
    /// As the header says: authenticated only when the file is opened.
    public let protection: FileProtection
    /// Of the content, in bytes; authenticated only when the file is opened.
    public let length: UInt64
    /// Of the file on the disk, in bytes.
    public let storedSize: UInt64
    /// The keychain that has its key.
    public let keychain: UUID
    public let identifier: UUID
    /// Counts the renewals of that keychain's keys: an older one opens too, and setting the class again renews it.
    public let keyGeneration: UInt32
    public let chunkSize: Int
    /// Whether both copies of its header are whole. One is enough to open it.
    public let hasBothHeaders: Bool
    /// Why it would not open now; nil: its key opens. Content is not looked at.
    public let refusal: DataProtectionError?
}

extension ProtectedFiles {
    // MARK: Asking

    /// Whether the file's content is protected. Plain files and directories are not.
    public func isProtected(_ url: URL) throws(DataProtectionError) -> Bool {
        let path = try FilePath.of(url)
        if FilePath.isDirectory(path) { return false }
        return try OpenFile(reading: path).isProtected()
    }

    /// The class of a file, or the one that a directory gives to new files and directories in it.
    ///
    /// - Returns: nil for a plain file, and for a directory without one.
    public func protection(of url: URL) throws(DataProtectionError) -> FileProtection? {
        let path = try FilePath.of(url)
        if FilePath.isDirectory(path) { return try directoryProtection(path) }
        let file = try OpenFile(reading: path)
        guard try file.isProtected() else { return nil }
        return FileProtection(try file.header().claimed.fileClass)
    }

    /// What a protected file's header says, and whether its key is within reach. Also while locked.
    public func info(of url: URL) throws(DataProtectionError) -> ProtectedFileInfo {
        let file = try OpenFile(reading: try FilePath.of(url))
        let claimed = try file.header().claimed
        var refusal: DataProtectionError?
        do throws(DataProtectionError) {
            _ = try sealed(file).current(.continuing)
        } catch {
            refusal = error
        }
        return ProtectedFileInfo(
            protection: FileProtection(claimed.fileClass), length: claimed.length, storedSize: file.size,
            keychain: claimed.key.storeID, identifier: claimed.key.fileID, keyGeneration: claimed.key.generation,
            chunkSize: 1 << Int(claimed.chunkBits),
            hasBothHeaders: try file.hasBothHeaders(), refusal: refusal)
    }

    // MARK: Changing

    /// Gives a file another class.
    ///
    /// A protected file has only its key wrapped anew, whatever its size; the same class again puts it under the newest
    /// keys. A plain file is encrypted, as with ``protect(_:as:progress:)``. To a directory it says what new files and
    /// directories in it get; what is there stays as it is.
    ///
    /// - Throws: `.locked` if the file's key, or the one for the new class, is locked away. Nothing was changed then.
    public func setProtection(_ protection: FileProtection, of url: URL) throws(DataProtectionError) {
        let path = try FilePath.followingLinks(try FilePath.of(url))
        if FilePath.isDirectory(path) {
            return try ExtendedAttributes.set(Self.directoryAttribute, Data(protection.rawValue.utf8), of: path)
        }
        let file = try OpenFile(reading: path)
        if try file.isProtected() {
            try rewrap(try OpenFile(path, O_RDWR), for: protection)
        } else {
            try encrypt(file, protection) { _ in }
        }
    }

    /// Takes from a directory what ``setProtection(_:of:)`` gave it.
    public func removeProtection(ofDirectory url: URL) throws(DataProtectionError) {
        try ExtendedAttributes.remove(Self.directoryAttribute, of: try FilePath.of(url))
    }

    /// Where a directory says which class new files get (docs/cli.md).
    static let directoryAttribute = "user.keychain.protection"

    func directoryProtection(_ path: String) throws(DataProtectionError) -> FileProtection? {
        guard let value = try ExtendedAttributes.value(Self.directoryAttribute, of: path) else { return nil }
        guard let protection = FileProtection(rawValue: String(decoding: value, as: UTF8.self)) else {
            throw DataProtectionError(
                .invalidOption, path, "its attribute \(Self.directoryAttribute) names no class of protection")
        }
        return protection
    }

    /// The class that was asked for, or the one that a new file gets at this path.
    func usualProtection(
        _ protection: FileProtection?, at path: String
    ) throws(DataProtectionError) -> FileProtection {
        if let protection { return protection }
        return try directoryProtection(FilePath.directory(of: path)) ?? .completeUntilFirstUserAuthentication
    }

    /// Wraps the file's key for another class, and replaces both copies of the header.
    private func rewrap(_ file: borrowing OpenFile, for protection: FileProtection) throws(DataProtectionError) {
        let (identity, path) = (file.identity, file.path)
        try sealed(file, mayWrite: true).setClass(protection.fileClass) { () throws(DataProtectionError) in
            guard identity.isStillNamed() else {
                throw DataProtectionError(
                    .changedMeanwhile, path, "another program has replaced the file meanwhile; nothing was changed")
            }
        }
    }
}

extension FilePath {
    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
