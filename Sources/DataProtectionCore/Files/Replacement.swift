internal import FoundationEssentials
internal import Glibc
internal import KeychainSystem
internal import SealedFiles
internal import Synchronization

/// A new file that takes the place of another file, whole or not at all.
///
/// It is written beside that file, under a name that ``isName(_:)`` knows. It is locked for as long as a program writes
/// it, so an unlocked one was left by a program that was killed.
struct Replacement: ~Copyable {
    private static let prefix = ".keychain-new-"

    /// Whether a name is that of a new file that is being written, or was: a prefix, and a UUID in small letters.
    static func isName(_ name: some StringProtocol) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let rest = String(name.dropFirst(prefix.count))
        return UUID(uuidString: rest)?.uuidString.lowercased() == rest
    }

    /// A descriptor for reading and writing. The file is empty at first.
    let descriptor: Int32
    /// The path that the file will have.
    let path: String
    /// The directory of the file. It stays this directory, even if its path leads elsewhere later.
    let directory: HeldDirectory
    /// The name of the file until it takes its place.
    private let temporary: String
    let files: any FileSystem
    private var isDone = false

    /// Makes an empty file beside a path.
    ///
    /// - Parameters:
    ///   - path: A path that is no link: see ``FilePath/target(of:)``.
    ///   - mode: The mode, as for open(2). For content in clear it gives no rights to others until the readers are
    ///     known.
    init(of path: String, mode: mode_t, _ files: any FileSystem) throws(DataProtectionError) {
        let held = try Self.hold(path)
        try Self.requireNoMount(held, path)
        Self.sweepNowAndThen(held, files)
        let (opened, name) = try Self.make(in: held, path, mode, files)
        self.path = path
        self.files = files
        (directory, descriptor, temporary) = (held, opened, name)
        Self.unfinished.withLock { $0[opened] = (held, name) }
    }

    /// A mount of protected files shows content that is encrypted already.
    ///
    /// - Throws: `.unsupportedFile` in such a mount.
    private static func requireNoMount(_ directory: HeldDirectory, _ path: String) throws(DataProtectionError) {
        var type: Int64 = 0
        // The number is that of FUSE in statfs(2).
        guard ckeychain_file_system_type(directory.descriptor, &type) == 0, type == 0x6573_5546,
            try ExtendedAttributes.value(ProtectedFiles.attributeOfMounts, of: directory.path) != nil
        else { return }
        throw DataProtectionError(
            .unsupportedFile, path,
            "it lies in a mount of protected files, where content is encrypted already: name the file in the directory "
                + "that is mounted, or set its class with 'setfattr -n user.keychain.class'")
    }

    private static func hold(_ path: String) throws(DataProtectionError) -> HeldDirectory {
        do throws(SystemError) {
            return try HeldDirectory(FilePath.directory(of: path))
        } catch {
            throw .system("write", path, errno: error.number)
        }
    }

    /// The unfinished files of this process by their descriptors, for a signal that ends it.
    private static let unfinished = Mutex<[Int32: (HeldDirectory, String)]>([:])

    /// Removes all files that this process has not finished.
    static func removeUnfinished() {
        unfinished.withLock { unfinished in
            for (directory, name) in unfinished.values { _ = unlinkat(directory.descriptor, name, 0) }
            unfinished = [:]
        }
    }

    private func noteFinished() { Self.unfinished.withLock { $0[descriptor] = nil } }

    /// Makes sure that the old file has its name in its directory.
    ///
    /// - Throws: `.changedMeanwhile` if another file has that name.
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
            let temporary = prefix + UUID().uuidString.lowercased()
            let descriptor = files.open(temporary, in: directory, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode: mode)
            guard descriptor >= 0 else { throw .system("write", path) }
            // No other program has the file open. On a file system without locks, leftovers are not removed.
            _ = flock(descriptor, LOCK_EX | LOCK_NB)
            var status = stat()
            // Another program may have removed it as a leftover between these two calls.
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
    ///   - replaces: Whether an old file gives way. Without that, a file of the name is an error (EEXIST).
    ///   - isDurable: Whether content and name are forced to the disk.
    consuming func publish(replaces: Bool = true, isDurable: Bool) throws(DataProtectionError) {
        if isDurable { try force() }
        // The directory is opened before anything is changed. One that may be written and not read cannot be forced to
        // the disk.
        let opened = isDurable ? try openDirectory() : nil
        defer { if let opened { close(opened) } }
        if replaces {
            try takeName()
        } else {
            // A link never takes the place of a file, as a rename would. The temporary name is removed by `deinit`.
            guard files.link(temporary, to: FilePath.name(of: path), in: directory) == 0 else {
                throw .system("create", path)
            }
        }
        if let opened { try Self.force(opened, path, files) }
    }

    // MARK: Its steps, for several at a time

    /// Forces the content to the disk.
    func force() throws(DataProtectionError) {
        if files.sync(descriptor) != 0 { throw .system("write", path) }
    }

    /// Gives the new file the old one's place. The file system chooses when content and name come to the disk.
    mutating func takeName() throws(DataProtectionError) {
        guard files.rename(temporary, to: FilePath.name(of: path), in: directory) == 0 else {
            throw .system("replace", path)
        }
        isDone = true
        noteFinished()
    }

    /// Forces the names in a directory to the disk.
    ///
    /// - Parameter path: A file in the directory, for errors.
    static func force(_ directory: Int32, _ path: String, _ files: any FileSystem) throws(DataProtectionError) {
        guard files.syncNames(directory) == 0 else {
            throw .system("be sure that the disk has the new name of", path)
        }
    }

    /// Opens the directory of the file. The caller closes it. `nil` means that it may not be read.
    func openDirectory() throws(DataProtectionError) -> Int32? {
        let descriptor = openat(directory.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 && errno == EACCES { return nil }
        guard descriptor >= 0 else { throw .system("open", directory.path) }
        return descriptor
    }

    /// The directories that this process has swept, and when: a directory of many files takes long to list.
    private static let swept = Mutex<[String: (number: FileNumber, when: ContinuousClock.Instant)]>([:])
    private static let timeBetweenSweeps = Duration.seconds(60)
    private static let mostRemembered = 1_000

    /// Removes what killed programs have left, before the first file that this process writes in a directory and at most
    /// once in a minute.
    private static func sweepNowAndThen(_ directory: HeldDirectory, _ files: any FileSystem) {
        var status = stat()
        guard fstat(directory.descriptor, &status) == 0 else { return }
        let (number, now) = (FileNumber(status), ContinuousClock.now)
        let isDue = swept.withLock { swept in
            if let last = swept[directory.path], last.number == number, now - last.when < timeBetweenSweeps {
                return false
            }
            if swept.count >= mostRemembered { swept = [:] }
            swept[directory.path] = (number, now)
            return true
        }
        if isDue { _ = sweep(directory.path, files) }
    }

    /// Removes the files that killed programs have left in a directory.
    ///
    /// - Returns: The number of files that were removed.
    static func sweep(_ directory: String, _ files: any FileSystem) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.count { name in
            guard isName(name) else { return false }
            let path = directory + "/" + name
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            var status = stat()
            // Only regular files that this user has made are removed.
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
                return false
            }
            return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && files.remove(path) == 0
        }
    }
}

// MARK: - Properties besides the content

extension Replacement {
    /// Gives the new file the mode and the owner of the file that it replaces.
    ///
    /// - Parameters:
    ///   - mustKeepOwner: Whether it is an error if the file cannot be given to that owner. Otherwise the new file is
    ///     this user's then, as with every program that replaces a file by a new one.
    ///   - giveTo: Gives the open file to a user and a group, as fchown(2) does.
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
        // A file that runs with the rights of its owner or group must not run with the rights of others.
        guard fchmod(descriptor, status.st_mode & (isGiven ? 0o7777 : 0o777)) == 0 else { throw .system("write", path) }
    }

    /// Gives the new file the access list (acl(5)) of the file that it replaces, or none if that has none.
    ///
    /// The directory may have given the new file a list that lets others in. The list comes before the mode, which is a
    /// part of it.
    ///
    /// - Parameter list: The list. `nil` means that the old file has none.
    func takeAccessList(_ list: Data?) throws(DataProtectionError) {
        let name = ExtendedAttributes.accessList
        guard let list else { return try ExtendedAttributes.remove(name, of: path, descriptor) }
        guard ExtendedAttributes.set(name, list, of: descriptor) else {
            throw .system("write the access list of", path)
        }
    }

    /// Gives the new file all properties of the old one besides its content and its times.
    ///
    /// - Parameter mustKeepOwner: See ``takeModeAndOwner(of:mustKeepOwner:)``.
    func takeEverything(
        of file: borrowing OpenFile, mustKeepOwner: Bool = true
    ) throws(DataProtectionError) {
        try takeAccessList(try ExtendedAttributes.value(ExtendedAttributes.accessList, of: file.path, file.descriptor))
        try takeAttributes(of: file)
        try takeModeAndOwner(of: file.status, mustKeepOwner: mustKeepOwner)
    }

    /// Gives the new file the properties that are harmless even if they come from a medium that anybody may have
    /// changed.
    ///
    /// These are the attributes that users set, and the mode without the rights of others to write and to run the file
    /// with its owner's rights.
    func takeWhatIsHarmless(of file: borrowing OpenFile) throws(DataProtectionError) {
        try takeAttributes(of: file, onlyOfUsers: true)
        guard fchmod(descriptor, file.status.st_mode & 0o755) == 0 else { throw .system("write", path) }
    }

    /// Gives the new file the extended attributes of the file that it replaces, except the access list.
    ///
    /// The attributes of a file that this user may not read are not known.
    func takeAttributes(of path: String) throws(DataProtectionError) {
        if !FilePath.permits(path, R_OK) && errno == EACCES { return }
        try takeAttributes(of: try OpenFile(reading: path))
    }

    private func takeAttributes(
        of file: borrowing OpenFile, onlyOfUsers: Bool = false
    ) throws(DataProtectionError) {
        let all = try ExtendedAttributes.all(of: file.descriptor, file.path)
        let taken = all.filter { onlyOfUsers ? $0.name.hasPrefix("user.") : $0.name != ExtendedAttributes.accessList }
        try ExtendedAttributes.give(taken, to: descriptor, path)
    }

    /// Gives the new file the times of the old one. It must come after the last write.
    func takeTimes(of file: borrowing OpenFile) throws(DataProtectionError) {
        try FilePath.setTimes(of: file.status, descriptor, path)
    }
}
