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

    /// The class of a file, or the one that a directory gives to new files in it: its own, or that of the nearest one above
    /// it.
    ///
    /// - Returns: nil for a plain file, and for a directory which gives none.
    public func protection(of url: URL) throws(DataProtectionError) -> FileProtection? {
        let path = try FilePath.of(url)
        if FilePath.isDirectory(path) { return try inheritedProtection(path) }
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
        let isDirectory = try withDirectory(url) { (directory, path) throws(DataProtectionError) in
            guard ExtendedAttributes.set(Self.directoryAttribute, Data(protection.rawValue.utf8), of: directory) else {
                throw .system("mark", path)
            }
        }
        if isDirectory { return }
        let file = try open(url, O_RDONLY)
        if try file.isProtected() {
            try rewrap(try open(url, O_RDWR), for: protection)
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
        return try protection(value, path)
    }

    private func protection(_ value: Data, _ path: String) throws(DataProtectionError) -> FileProtection {
        guard let protection = FileProtection(rawValue: String(decoding: value, as: UTF8.self)) else {
            throw DataProtectionError(
                .invalidOption, path, "its attribute \(Self.directoryAttribute) names no class of protection")
        }
        return protection
    }

    /// The class that a directory gives to new files: its own, else that of the nearest one above it which has one. So a
    /// directory that any program has made gives what its parent gives.
    ///
    /// It is looked for in directories of this user and of root, and not beyond the file system's own root. One of root's that
    /// may not be read ends the search; one of this user's is an error, since it may give a class.
    func inheritedProtection(_ directory: String) throws(DataProtectionError) -> FileProtection? {
        if let own = try directoryProtection(directory) { return own }
        // From directory to directory: paths of what is above may be too long, or no text.
        var held: OpenDescriptor?
        var (status, above) = (stat(), stat())
        guard stat(directory, &status) == 0 else { return nil }
        while true {
            let up = held.map { (number: $0.number, name: "..") } ?? (number: AT_FDCWD, name: directory + "/..")
            guard fstatat(up.number, up.name, &above, 0) == 0 else { throw .system("look above", directory) }
            guard above.st_dev == status.st_dev, above.st_ino != status.st_ino,
                [0, geteuid()].contains(above.st_uid)
            else { return nil }
            status = above
            let opened = openat(up.number, up.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if opened < 0 && errno == EACCES && above.st_uid != geteuid() { return nil }
            guard opened >= 0 else { throw .system("look above", directory) }
            held = OpenDescriptor(opened)
            let value = try ExtendedAttributes.value(Self.directoryAttribute, of: opened, directory)
            if let value { return try protection(value, directory) }
        }
    }

    /// The class that writing at a path gives, whoever writes: the one that was asked for; that of the file which is
    /// replaced, since no one who replaces content means to make it easier to read; the one that the directory gives.
    ///
    /// - Parameters:
    ///   - asked: nil: nothing was said.
    ///   - path: Not a link: see ``FilePath/target(of:)``.
    /// - Returns: nil if nothing says what to do.
    func protection(
        asWritten asked: FileProtection?, at path: String
    ) throws(DataProtectionError) -> FileProtection? {
        if let asked { return asked }
        guard let former = try formerProtection(at: path) else {
            return try inheritedProtection(FilePath.directory(of: path))
        }
        return former
    }

    private func formerProtection(at path: String) throws(DataProtectionError) -> FileProtection? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return nil }
        // One that may not be read and has no room for a header is no protected one.
        if access(path, R_OK) != 0 && status.st_size < FileFormat.headerByteCount { return nil }
        let file = try OpenFile(reading: path)
        guard try file.isProtected() else { return nil }
        do throws(DataProtectionError) {
            let claimed = FileProtection(try file.header().claimed.fileClass)
            do throws(DataProtectionError) {
                _ = try sealed(file).current(.continuing)
            } catch {
                // Nobody can tell whether it is true, but a file of that class can be made only if it is one as strong.
                guard error.code == .locked else { throw error }
            }
            return claimed
        } catch {
            // A damaged one is made anew. It may have been of any class, and whoever damaged it must not choose a weaker one.
            guard [.tampered, .truncated, .wrongKey].contains(error.code) else { throw error }
            return .complete
        }
    }

    /// The same where every file is protected.
    func usualProtection(
        _ protection: FileProtection?, at path: String
    ) throws(DataProtectionError) -> FileProtection {
        try self.protection(asWritten: protection, at: path) ?? .completeUntilFirstUserAuthentication
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
