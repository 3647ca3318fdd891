internal import Glibc
internal import KeychainSystem

/// A directory that only root can change, or another owner whom all trust: each part of its path is looked at by a
/// descriptor, and no link is followed.
struct GuardedDirectory {
    let path: String
    private let descriptor: OpenDescriptor
    private let owner: uid_t

    private init(_ path: String, _ descriptor: OpenDescriptor, _ owner: uid_t) {
        self.path = path
        self.descriptor = descriptor
        self.owner = owner
    }

    /// - Returns: The directory, and its flaw or that of one above it; nil: there is none.
    /// - Throws: The flaw of a path that leads to no directory, or cannot be followed.
    static func open(_ path: String, owner: uid_t) throws(ManifestFlaw) -> (GuardedDirectory, ManifestFlaw?)? {
        var flaw: ManifestFlaw?
        var descriptor = OpenDescriptor(Glibc.open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        var reached = "/"
        let names = path.split(separator: "/").map(String.init)
        for (index, name) in names.enumerated() {
            reached = FilePath.join(reached, name)
            // Search permission is all that a directory on the way needs.
            let isLast = index == names.count - 1
            let next = openat(
                descriptor.number, name, (isLast ? O_RDONLY : pathOnly) | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            if next < 0 && errno == ENOENT { return nil }
            guard next >= 0 else { throw Self.flaw(ofOpening: name, in: descriptor, reached, errno) }
            descriptor = OpenDescriptor(next)
            let status = try status(next, reached)
            if flaw == nil, let text = Self.flaw(status, owner, isOnTheWay: !isLast) {
                flaw = ManifestFlaw(path: reached, text: text)
            }
        }
        return (GuardedDirectory(path, descriptor, owner), flaw)
    }

    /// O_PATH (open(2)), the same on every machine that Swift runs on.
    private static let pathOnly: Int32 = 0o10_000_000

    private static func status(_ descriptor: Int32, _ path: String) throws(ManifestFlaw) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw ManifestFlaw(path: path, SystemError("look at it", errno)) }
        return status
    }

    private static func status(of name: String, in directory: OpenDescriptor) -> stat? {
        var status = stat()
        return fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// The errors of open(2) mislead if something else is there.
    private static func flaw(
        ofOpening name: String, in directory: OpenDescriptor, _ path: String, _ failure: Int32
    ) -> ManifestFlaw {
        let type = status(of: name, in: directory)?.st_mode
        if failure == ENOTDIR, type.map({ $0 & S_IFMT == S_IFREG }) == true {
            return ManifestFlaw(path: path, text: "is no directory")
        }
        if [ELOOP, ENOTDIR, ENXIO].contains(failure), let text = type.flatMap(OwnFile.flaw(ofType:)) {
            return ManifestFlaw(path: path, text: text)
        }
        return ManifestFlaw(path: path, SystemError("open it", failure))
    }

    /// - Parameter isOnTheWay: The sticky bit keeps other users from replacing an entry of root's.
    private static func flaw(_ status: stat, _ owner: uid_t, isOnTheWay: Bool = false) -> String? {
        guard status.st_uid == 0 || status.st_uid == owner else {
            return "belongs to user \(status.st_uid), and has to belong to \(owner == 0 ? "root" : "user \(owner)")"
        }
        guard status.st_mode & 0o022 != 0, !isOnTheWay || status.st_mode & S_ISVTX == 0 else { return nil }
        return "can be written by others than its owner (mode \(String(status.st_mode & 0o7777, radix: 8)))"
    }

    /// The names of manifests, sorted.
    func names() throws(ManifestFlaw) -> [String] {
        let number = openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard let content = DirectoryNames(closing: number) else {
            let failure = SystemError("open it", errno)
            if number >= 0 { close(number) }
            throw ManifestFlaw(path: path, failure)
        }
        var names: [String] = []
        for bytes in content.names where bytes.reversed().starts(with: ".plist".utf8.reversed()) {
            guard let name = String(validating: bytes, as: UTF8.self) else {
                throw ManifestFlaw(path: path, text: "has a manifest whose name is not UTF-8")
            }
            names.append(name)
        }
        guard content.failure == 0 else { throw ManifestFlaw(path: path, SystemError("read it", content.failure)) }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// - Returns: The bytes of a file, and its flaw if others can change it.
    /// - Throws: The flaw of a thing that is not to be read.
    func content(of name: String) throws(ManifestFlaw) -> (bytes: [UInt8], flaw: String?) {
        let path = FilePath.join(path, name)
        let number = openat(descriptor.number, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { throw Self.flaw(ofOpening: name, in: descriptor, path, errno) }
        let file = OpenDescriptor(number)
        let status = try Self.status(number, path)
        if let text = OwnFile.flaw(ofType: status.st_mode) { throw ManifestFlaw(path: path, text: text) }
        guard let bytes = OpenDescriptor.content(of: number, most: ManifestContent.mostBytes + 1) else {
            throw ManifestFlaw(path: path, SystemError("read it", errno))
        }
        return withExtendedLifetime(file) { (bytes, Self.flaw(status, owner)) }
    }

    // MARK: Changes

    /// The state of the directory, of those above it, and of its files; nil: it cannot be told.
    static func signature(_ path: String, owner: uid_t) -> [FileStamp?]? {
        let ways = path.utf8.indices.filter { path.utf8[$0] == UInt8(ascii: "/") }.dropFirst()
            .map { FileStamp(String(path[..<$0])) }
        do throws(ManifestFlaw) {
            guard let (directory, _) = try open(path, owner: owner) else { return ways + [FileStamp(path)] }
            let files = try directory.names().map { name in
                status(of: name, in: directory.descriptor).map { FileStamp(name, $0) }
            }
            return ways + [FileStamp(path)] + files
        } catch {
            return error.mayPass ? nil : ways + [FileStamp(path)]
        }
    }
}

/// A file as it was at a moment.
struct FileStamp: Hashable {
    private let name: String
    private let number: FileNumber
    private let values: [Int64]

    init(_ name: String, _ status: stat) {
        self.name = name
        number = FileNumber(status)
        values = [
            Int64(status.st_size), Int64(status.st_mode), Int64(status.st_uid),
            Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
            Int64(status.st_ctim.tv_sec), Int64(status.st_ctim.tv_nsec),
        ]
    }

    /// nil: there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(path, status)
    }
}
