public import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
public import SealedFiles

/// The facts about a protected file that can be read without its content, also while the keychain is locked.
///
/// ```swift
/// let info = try files.info(of: url)
/// print("\(info.protection), \(info.length) bytes")
/// if let refusal = info.refusal { print("does not open now: \(refusal.message)") }
/// ```
///
/// The header's facts are claims until ``refusal`` is `nil`: a program without the file's key can change them.
public struct ProtectedFileInfo: Sendable {
    /// The class that the header claims. Opening the file verifies it.
    public let protection: FileProtection
    /// The length of the content in bytes that the header claims. Opening the file verifies it.
    public let length: UInt64
    /// The size of the file on the disk in bytes, with the header and the tables in it.
    public let storedSize: UInt64
    /// The keychain that has the file's key. `keychainctl status --json` shows a keychain's number as `storeID`.
    public let keychain: UUID
    /// The file's own number, which is random and is made with the file's key.
    ///
    /// Copies of a file have one number. Writing a whole file makes another number.
    public let identifier: UUID
    /// The generation of the keychain's keys that the file is under, counted from 1.
    ///
    /// A renewal of all keys begins a new generation. Files of older generations open too, and setting the class again
    /// brings a file under the newest one.
    public let keyGeneration: UInt32
    /// The size in bytes of the parts that are encrypted one by one, usually 16,384.
    ///
    /// A change of a few bytes writes one such part and a few tables of 4,096 bytes.
    public let chunkSize: Int
    /// Whether both copies of the header are intact. One copy is enough to open the file.
    public let hasBothHeaders: Bool
    /// The error that opening the file would throw now. `nil` means that its key and its header open.
    ///
    /// The content was not looked at, so it may still be damaged.
    public let refusal: DataProtectionError?
}

extension ProtectedFiles {
    // MARK: Asking

    /// Tells whether the file's content is protected. The answer is false for plain files and for directories.
    ///
    /// It reads the first 4 KiB of the file and needs no key. Another program may put a plain file in the place of a
    /// protected one, so a program that trusts content must read it through ``read(from:)``, which refuses plain files.
    ///
    /// - Parameter url: The file. A link is followed.
    /// - Throws: `.system` with `ENOENT` if there is no file, or with `EACCES` if it cannot be read. `.unsupportedFile`
    ///   for a device, pipe or socket.
    public func isProtected(_ url: URL) throws(DataProtectionError) -> Bool {
        let path = try FilePath.of(url)
        if FilePath.isDirectory(path) { return false }
        return try OpenFile(reading: path).isProtected()
    }

    /// Finds the class of a file, or the class that a directory gives to new files in it.
    ///
    /// A directory gives its own class, or that of the nearest directory above it which has one. The search ends at the
    /// root of the file system, and at a directory of another user than this one and root. A file's class is the one
    /// that its header claims, so the answer is available while the keychain is locked.
    ///
    /// - Parameter url: The file or directory. A link is followed.
    /// - Returns: `nil` for a plain file, and for a directory that gives no class.
    /// - Throws: `.invalidOption` if a directory's attribute names no class. `.tampered` or `.truncated` for a file
    ///   whose header cannot be used.
    public func protection(of url: URL) throws(DataProtectionError) -> FileProtection? {
        let path = try FilePath.of(url)
        if FilePath.isDirectory(path) { return try inheritedProtection(path) }
        let file = try OpenFile(reading: path)
        guard try file.isProtected() else { return nil }
        return FileProtection(try file.header().claimed.fileClass)
    }

    /// Reads the header of a protected file and tries whether its key opens. It works while the keychain is locked.
    ///
    /// - Parameter url: The file. A link is followed.
    /// - Throws: `.notProtected` for a plain file; `.tampered`, `.truncated` or `.newerFormat` if the header cannot be
    ///   read. A key that does not open is no error here: see ``ProtectedFileInfo/refusal``.
    public func info(of url: URL) throws(DataProtectionError) -> ProtectedFileInfo {
        let file = try OpenFile(reading: try FilePath.of(url))
        let headers = try file.headers()
        let claimed = headers.newest.claimed
        return ProtectedFileInfo(
            protection: FileProtection(claimed.fileClass), length: claimed.length, storedSize: file.size,
            keychain: claimed.key.storeID, identifier: claimed.key.fileID, keyGeneration: claimed.key.generation,
            chunkSize: 1 << Int(claimed.chunkBits), hasBothHeaders: headers.areBothWhole, refusal: refusal(of: file))
    }

    /// The error that opening the file would throw now.
    private func refusal(of file: borrowing OpenFile) -> DataProtectionError? {
        do throws(DataProtectionError) {
            _ = try sealed(file).current(.continuing)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Changing

    /// Gives a file another class, or says which class new files in a directory get.
    ///
    /// ```swift
    /// try files.setProtection(.complete, of: letter)     // wraps the file's key; the size does not matter
    /// try files.setProtection(.complete, of: directory)  // for files that are made from now on
    /// ```
    ///
    /// - **A protected file** gets its key wrapped for the new class, which takes no longer for a large file. Its own
    ///   class again puts it under the newest keys. Programs that have it open see the new class at once.
    /// - **A plain file** is encrypted, as by ``protect(_:as:progress:)``.
    /// - **A directory** gives the class to new files and directories in it. Files that are there stay as they are.
    ///
    /// An old copy of the file, in a backup or a snapshot, still opens with the old class. Write the file again if that
    /// matters: it has another key then.
    ///
    /// - Parameters:
    ///   - protection: The new class.
    ///   - url: The file or directory. A link is followed.
    /// - Throws: `.locked` if the file's key, or the key for the new class, is locked away. `.changedMeanwhile` if
    ///   another program replaces the file meanwhile. `.wrongKey`, `.tampered` or `.truncated`. The class was not
    ///   changed then.
    public func setProtection(_ protection: FileProtection, of url: URL) throws(DataProtectionError) {
        let isDirectory = try withDirectory(url) { (directory, path) throws(DataProtectionError) in
            guard ExtendedAttributes.set(Self.directoryAttribute, Data(protection.rawValue.utf8), of: directory) else {
                throw .system("mark", path)
            }
        }
        if isDirectory { return }
        if try encrypt(url, as: protection, { _ in }) { return }
        let file = try open(url, O_RDWR)
        try sealed(file, mayWrite: true).setClass(
            protection.fileClass, isStillRight: file.identity.requireStillNamed)
    }

    /// Removes the class that ``setProtection(_:of:)`` gave to a directory. It is no error if there is none.
    ///
    /// Files in the directory keep their class. A new file then gets the class of the nearest directory above that has
    /// one.
    ///
    /// - Parameter url: The directory.
    /// - Throws: `.system` if the directory may not be changed.
    public func removeProtection(ofDirectory url: URL) throws(DataProtectionError) {
        try ExtendedAttributes.remove(Self.directoryAttribute, of: try FilePath.of(url))
    }

    /// The attribute in which a directory says which class new files get (docs/cli.md).
    package static let directoryAttribute = "user.keychain.protection"

    /// The class that a directory itself gives to new files. `nil` means that it names none.
    package func directoryProtection(_ path: String) throws(DataProtectionError) -> FileProtection? {
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

    /// Finds the class that a directory gives to new files: its own, or that of the nearest directory above it which
    /// has one.
    ///
    /// So a directory that any program has made gives the class that its parent gives. The search goes through
    /// directories of this user and of root, within one file system. A directory of root's that may not be read ends
    /// the search. A directory of this user's that may not be read is an error, since it may give a class.
    package func inheritedProtection(_ directory: String) throws(DataProtectionError) -> FileProtection? {
        if let own = try directoryProtection(directory) { return own }
        // The search goes from descriptor to descriptor: a path to a directory above may be too long, or not be UTF-8.
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
            let value = try ExtendedAttributes.value(Self.directoryAttribute, of: directory, opened)
            if let value { return try protection(value, directory) }
        }
    }

    /// Finds the class that a write gives a file, for every function that writes.
    ///
    /// The class that was asked for comes first. Then comes the class of the file that is replaced: a program that
    /// replaces content does not mean to make it easier to read. Then comes the class that the directory gives.
    ///
    /// - Parameters:
    ///   - asked: The class that the caller named. `nil` means that it named none.
    ///   - path: A path that is no link: see ``FilePath/target(of:)``.
    /// - Returns: `nil` if none of the three is there.
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
        // A file that may not be read and has no room for a header is not a protected one.
        if !FilePath.permits(path, R_OK) && status.st_size < FileFormat.headerByteCount { return nil }
        let file = try OpenFile(reading: path)
        guard try file.isProtected() else { return nil }
        do throws(DataProtectionError) {
            let claimed = FileProtection(try file.header().claimed.fileClass)
            // The claim cannot be verified while the keychain is locked. A forged claim does no harm: a class whose key
            // is locked away is not a weak one.
            if let refusal = refusal(of: file), refusal.code != .locked { throw refusal }
            return claimed
        } catch {
            // A damaged file is replaced. It may have been of any class, and the damage must not choose a weaker one.
            guard [.tampered, .truncated, .wrongKey].contains(error.code) else { throw error }
            return .complete
        }
    }

    /// Finds the class that a write gives a file where every file is protected.
    func usualProtection(
        _ protection: FileProtection?, at path: String
    ) throws(DataProtectionError) -> FileProtection {
        try self.protection(asWritten: protection, at: path) ?? .completeUntilFirstUserAuthentication
    }
}

extension FilePath {
    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
