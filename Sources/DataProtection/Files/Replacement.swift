internal import Foundation
internal import Glibc
internal import KeychainSystem
internal import Synchronization

/// A new file that takes the place of another one, whole or not at all.
///
/// It is written beside that one, under a name that ``isName(_:)`` knows, and locked for as long as somebody writes it:
/// one that is not locked was left by a program that was killed.
struct Replacement: ~Copyable {
    private static let prefix = ".keychain-new-"

    private static func makeName() -> String { prefix + UUID().uuidString.lowercased() }

    /// Whether a file of this name is one that is being written, or was: a prefix, and a UUID in small letters.
    static func isName(_ name: some StringProtocol) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let rest = String(name.dropFirst(prefix.count))
        return UUID(uuidString: rest)?.uuidString.lowercased() == rest
    }

    /// Open for reading and writing, empty.
    let descriptor: Int32
    /// Of the file that it will be.
    let path: String
    /// Where it is and will be, whatever becomes of the path to it.
    let directory: HeldDirectory
    /// Its name until then.
    private let temporary: String
    let files: any FileSystem
    private var isDone = false

    /// - Parameters:
    ///   - path: Not a link: see ``FilePath/target(of:)``.
    ///   - mode: As of open(2); for content in clear that of its owner alone, until it is known who else may read it.
    init(of path: String, mode: mode_t, _ files: any FileSystem) throws(DataProtectionError) {
        let held = try Self.hold(path)
        let (opened, name) = try Self.make(in: held, path, mode, files)
        self.path = path
        self.files = files
        (directory, descriptor, temporary) = (held, opened, name)
        Self.unfinished.withLock { $0[opened] = (held, name) }
    }

    private static func hold(_ path: String) throws(DataProtectionError) -> HeldDirectory {
        do throws(SystemError) {
            return try HeldDirectory(FilePath.directory(of: path))
        } catch {
            throw .system("write", path, errno: error.number)
        }
    }

    /// Those of this process, by their descriptors, for a signal that ends it.
    private static let unfinished = Mutex<[Int32: (HeldDirectory, String)]>([:])

    /// Removes all that this process has not finished.
    static func removeUnfinished() {
        unfinished.withLock { unfinished in
            for (directory, name) in unfinished.values { _ = unlinkat(directory.descriptor, name, 0) }
            unfinished = [:]
        }
    }

    private func noteFinished() { Self.unfinished.withLock { $0[descriptor] = nil } }

    /// - Throws: `.changedMeanwhile` if the file that it is made from is not the one which has that name in its directory.
    func requirePlace(of file: borrowing OpenFile) throws(DataProtectionError) {
        guard directory.number(of: FilePath.name(of: path)) == FileNumber(file.status) else {
            throw DataProtectionError(
                .changedMeanwhile, path, "something else has taken its place meanwhile; nothing was changed")
        }
    }

    private static func make(
        in directory: HeldDirectory, _ path: String, _ mode: mode_t, _ files: any FileSystem
    ) throws(DataProtectionError) -> (Int32, String) {
        while true {
            let temporary = makeName()
            let descriptor = files.open(temporary, in: directory, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode: mode)
            guard descriptor >= 0 else { throw .system("write", path) }
            // Nobody else has it open. Where the file system cannot lock, nothing is swept up.
            _ = flock(descriptor, LOCK_EX | LOCK_NB)
            var status = stat()
            // Somebody who sweeps may have been between these two calls.
            if fstat(descriptor, &status) == 0 && status.st_nlink > 0 { return (descriptor, temporary) }
            close(descriptor)
        }
    }

    deinit {
        noteFinished()
        close(descriptor)
        if !isDone { _ = files.remove(temporary, in: directory) }
    }

    /// Gives the new file the old one's place.
    ///
    /// - Parameters:
    ///   - replaces: Otherwise there must be no file of the name (EEXIST).
    ///   - isDurable: Whether to force content and name to the disk.
    consuming func publish(replaces: Bool = true, isDurable: Bool) throws(DataProtectionError) {
        if isDurable { try force() }
        // Before anything is changed. A directory that may be written and not read cannot be forced to the disk.
        let opened = isDurable ? try openDirectory() : nil
        defer { if let opened { close(opened) } }
        if replaces {
            try takeName()
        } else {
            // Unlike a rename, a link never takes the place of what is there. The other name goes with `deinit`.
            guard files.link(temporary, to: FilePath.name(of: path), in: directory) == 0 else {
                throw .system("create", path)
            }
        }
        if let opened { try Self.force(opened, path, files) }
    }

    // MARK: Its steps, for several at a time

    /// Forces what was written to the disk.
    func force() throws(DataProtectionError) {
        if files.sync(descriptor) != 0 { throw .system("write", path) }
    }

    /// Gives the new file the old one's place, in the order that the file system chooses.
    mutating func takeName() throws(DataProtectionError) {
        guard files.rename(temporary, to: FilePath.name(of: path), in: directory) == 0 else {
            throw .system("replace", path)
        }
        isDone = true
        noteFinished()
    }

    /// Forces names to the disk.
    ///
    /// - Parameter path: Of a file in the directory, for errors.
    static func force(_ directory: Int32, _ path: String, _ files: any FileSystem) throws(DataProtectionError) {
        guard files.syncNames(directory) == 0 else {
            throw .system("be sure that the disk has the new name of", path)
        }
    }

    /// Of the file; the caller closes it. nil: it may not be read.
    func openDirectory() throws(DataProtectionError) -> Int32? {
        let descriptor = openat(directory.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 && errno == EACCES { return nil }
        guard descriptor >= 0 else { throw .system("open", directory.path) }
        return descriptor
    }

    /// Removes what killed programs have left in a directory.
    ///
    /// - Returns: how many there were.
    static func sweep(_ directory: String, _ files: any FileSystem) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.count { name in
            guard isName(name) else { return false }
            let path = directory + "/" + name
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            var status = stat()
            // Nothing that this user has not made.
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
                return false
            }
            return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && files.remove(path) == 0
        }
    }
}

// MARK: - What a file is besides its content

extension Replacement {
    /// Gives the new file the mode and the owner of the one that it replaces.
    ///
    /// - Parameters:
    ///   - mustKeepOwner: Otherwise the new file is this user's where it cannot be given away, as with every program that
    ///     replaces a file by a new one.
    ///   - giveTo: Gives the open file to a user and a group, as fchown(2).
    func takeModeAndOwner(
        of status: stat, mustKeepOwner: Bool, giveTo: (Int32, uid_t, gid_t) -> Int32 = fchown
    ) throws(DataProtectionError) {
        var own = stat()
        guard fstat(descriptor, &own) == 0 else { throw .system("write", path) }
        let isOwn = own.st_uid == status.st_uid && own.st_gid == status.st_gid
        let isGiven = isOwn || giveTo(descriptor, status.st_uid, status.st_gid) == 0
        guard isGiven || !mustKeepOwner else {
            throw DataProtectionError(
                .unsupportedFile, path, "it belongs to another user or group, which this user cannot give files to")
        }
        // What runs with its owner's or group's rights must not do so with other ones.
        guard fchmod(descriptor, status.st_mode & (isGiven ? 0o7777 : 0o777)) == 0 else { throw .system("write", path) }
    }

    /// Gives the new file the access list (acl(5)) of the one that it replaces, and none if that has none: the directory
    /// may have given it one, which lets in others. Before the mode, which is a part of it.
    ///
    /// - Parameter list: nil: it has none.
    func takeAccessList(_ list: Data?) throws(DataProtectionError) {
        let name = ExtendedAttributes.accessList
        if let list {
            guard ExtendedAttributes.set(name, list, of: descriptor) else {
                throw .system("write the access list of", path)
            }
        } else {
            try ExtendedAttributes.remove(name, of: descriptor, path)
        }
    }

    /// Gives the new file everything but content that the old one has.
    ///
    /// - Parameter mustKeepOwner: As in ``takeModeAndOwner(of:mustKeepOwner:)``.
    func takeEverything(
        of file: borrowing OpenFile, mustKeepOwner: Bool = true
    ) throws(DataProtectionError) {
        try takeAccessList(try ExtendedAttributes.value(ExtendedAttributes.accessList, of: file.descriptor, file.path))
        try takeAttributes(of: file)
        try takeModeAndOwner(of: file.status, mustKeepOwner: mustKeepOwner)
    }

    /// Gives the new file what only its user decides, from a medium that anybody may have changed: the attributes that
    /// users set, and the mode without what lets others write, or run it with its owner's rights.
    func takeWhatIsHarmless(of file: borrowing OpenFile) throws(DataProtectionError) {
        try takeAttributes(of: file, onlyOfUsers: true)
        guard fchmod(descriptor, file.status.st_mode & 0o755) == 0 else { throw .system("write", path) }
    }

    /// Gives the new file the extended attributes of the one that it replaces, the access list left aside. Those of a file
    /// that this user may not read are not known.
    func takeAttributes(of path: String) throws(DataProtectionError) {
        if access(path, R_OK) != 0 && errno == EACCES { return }
        try takeAttributes(of: try OpenFile(reading: path))
    }

    private func takeAttributes(
        of file: borrowing OpenFile, onlyOfUsers: Bool = false
    ) throws(DataProtectionError) {
        for (name, value) in try ExtendedAttributes.all(of: file.descriptor, file.path)
        where name != ExtendedAttributes.accessList {
            let isOfUser = name.hasPrefix("user.")
            if onlyOfUsers && !isOfUser { continue }
            // What the system itself sets may be refused; what users set must not get lost.
            guard ExtendedAttributes.set(name, value, of: descriptor) || !isOfUser else {
                throw .system("write the attributes of", path)
            }
        }
    }

    /// After the last write.
    func takeTimes(of file: borrowing OpenFile) throws(DataProtectionError) {
        let times = [file.status.st_atim, file.status.st_mtim]
        guard futimens(descriptor, times) == 0 else { throw .system("write the times of", path) }
    }
}
