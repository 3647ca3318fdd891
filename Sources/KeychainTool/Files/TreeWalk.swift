internal import DataProtectionCore
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// A walk over the files and directories that a person named, and over their content.
///
/// The walk goes in the order of the names' bytes, and follows no symbolic link in a tree. It keeps only the names in
/// each directory from the top down to the present one.
struct TreeWalk {
    enum Finding {
        /// A directory, which comes before its content. The number is nil if a person named it.
        case directory(String, FileNumber?)
        case file(FoundFile)
        case skipped(Skipped)
        case failed(FileFailure)
    }

    struct FoundFile {
        /// The path, which begins as the person wrote it.
        let path: String
        let size: UInt64
        /// The bytes that the file takes on the disk.
        let allocated: UInt64
        let number: FileNumber
        let nameCount: UInt64
        /// Whether a person named the file. Then links are followed.
        let isNamed: Bool

        var url: URL { URL(namedByPerson: path) }

        /// The file that a change is for, so that a file which takes its place is left alone. nil: a person named the
        /// path, and the change is for the file that it leads to.
        var found: FileNumber? { isNamed ? nil : number }

        fileprivate init(_ path: String, _ status: stat, isNamed: Bool = false) {
            self.path = path
            size = UInt64(max(0, status.st_size))
            allocated = UInt64(max(0, status.st_blocks)) * 512
            number = FileNumber(status)
            nameCount = UInt64(status.st_nlink)
            self.isNamed = isNamed
        }
    }

    /// The things in a tree that cannot be encrypted.
    enum Skipped: CaseIterable { case symbolicLink, pipe, socket, device, keychain, unfinished }

    /// The treatment of a directory that was named.
    enum Directories { case refused, entered, takenAlone }

    let paths: [String]
    let directories: Directories
    let storeFiles: StoreFiles

    func visit(_ body: (Finding) throws -> Void) rethrows {
        for path in paths { try visit(path, body) }
    }

    /// Walks over one of the ``paths``.
    func visit(_ path: String, _ body: (Finding) throws -> Void) rethrows {
        var status = stat()
        // A link that a person names is followed. A link in a tree is not.
        guard stat(path, &status) == 0 else { return try body(.failed(FileFailure(path, "open", errno))) }
        let isDirectory = status.st_mode & S_IFMT == S_IFDIR
        do throws(FileFailure) {
            if isDirectory, storeFiles.belong(in: path) { throw StoreFiles.refusal(of: path) }
            if !isDirectory { try storeFiles.requireElsewhere(path) }
        } catch {
            return try body(.failed(error))
        }
        switch (isDirectory, directories) {
        case (false, _): try body(.file(FoundFile(path, status, isNamed: true)))
        case (true, .takenAlone): try body(.directory(path, nil))
        case (true, .entered): try walk(path, body)
        case (true, .refused):
            try body(.failed(FileFailure(path, .parameter, "it is a directory; --recursive means all files below it")))
        }
    }

    // MARK: Trees

    private struct Level {
        let path: String
        let number: FileNumber
        /// The names that are still to come. The last one is the next.
        var names: [String]
    }

    /// The one directory that is open: a tree may be deeper than the limit of open files. Its content is read by its
    /// descriptor, so that a link in the place of a directory above cannot lead elsewhere.
    private final class Present {
        private var descriptor: Int32 = -1
        private var number: FileNumber?

        deinit { if descriptor >= 0 { close(descriptor) } }

        func descriptor(of level: Level) throws(FileFailure) -> Int32 {
            if number == level.number { return descriptor }
            let opened = open(level.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard opened >= 0 else { throw FileFailure(level.path, "look into", errno) }
            var status = stat()
            guard fstat(opened, &status) == 0, FileNumber(status) == level.number else {
                close(opened)
                throw FileFailure(
                    level.path, .inputOutput, "something else has taken its place; what is left in it is not looked at")
            }
            if descriptor >= 0 { close(descriptor) }
            (descriptor, number) = (opened, level.number)
            return opened
        }
    }

    private func walk(_ root: String, _ body: (Finding) throws -> Void) rethrows {
        var levels: [Level] = []
        let present = Present()
        try body(.directory(root, nil))
        if let top = try names(in: open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), root, body) { levels.append(top) }
        while let last = levels.indices.last {
            guard let name = levels[last].names.popLast() else {
                levels.removeLast()
                continue
            }
            let directory: Int32
            do throws(FileFailure) {
                directory = try present.descriptor(of: levels[last])
            } catch {
                try body(.failed(error))
                levels.removeLast()
                continue
            }
            if let below = try look(at: name, in: directory, levels[last].path, body) { levels.append(below) }
        }
    }

    /// - Returns: the level below, if the name is a directory.
    private func look(
        at name: String, in directory: Int32, _ directoryPath: String, _ body: (Finding) throws -> Void
    ) rethrows -> Level? {
        let path = FilePath.join(directoryPath, name)
        var status = stat()
        guard fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            // A file that another program removes meanwhile is no failure.
            if errno != ENOENT { try body(.failed(FileFailure(path, "look at", errno))) }
            return nil
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR where storeFiles.belong(in: path): try body(.skipped(.keychain))
        case S_IFDIR:
            // The directory is opened before `body` acts on it, so that the walk enters the same one.
            let opened = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            let failure = errno
            try body(.directory(path, FileNumber(status)))
            errno = failure
            return try names(in: opened, path, body)
        case S_IFREG where ProtectedFiles.isUnfinished(name): try body(.skipped(.unfinished))
        case S_IFREG: try body(.file(FoundFile(path, status)))
        case S_IFLNK: try body(.skipped(.symbolicLink))
        case S_IFIFO: try body(.skipped(.pipe))
        case S_IFSOCK: try body(.skipped(.socket))
        default: try body(.skipped(.device))
        }
        return nil
    }

    /// - Parameter descriptor: It is open for reading, and closed here; less than 0: errno says why it is not open.
    private func names(
        in descriptor: Int32, _ path: String, _ body: (Finding) throws -> Void
    ) rethrows -> Level? {
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, let content = DirectoryNames(closing: descriptor) else {
            try body(.failed(FileFailure(path, "look into", errno)))
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        var names: [String] = []
        for bytes in content.names {
            if let name = String(validating: bytes, as: UTF8.self) {
                names.append(name)
            } else {
                // Foundation cannot name such a file.
                let name = bytes.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "<\(String($0, radix: 16))>" }.joined()
                try body(.failed(.nameIsNoText("\(path)/\(name)")))
            }
        }
        if content.failure != 0 { try body(.failed(FileFailure(path, "look into", content.failure))) }
        return Level(
            path: path, number: FileNumber(status), names: names.sorted { $1.utf8.lexicographicallyPrecedes($0.utf8) })
    }
}
