internal import DataProtection
internal import Glibc
internal import KeychainModel

/// What there is to do something with: what a person named, and what is below it.
///
/// Trees are walked in the order of the names' bytes, and no symbolic link in them is followed. Of each directory from
/// the top down to the present one the names are kept, and nothing else.
struct TreeWalk {
    enum Finding {
        /// Comes before what is in it.
        case directory(String)
        case file(String, FoundFile)
        case skipped(Skipped)
        case failed(FileFailure)
    }

    /// A file as the system describes it.
    struct FoundFile {
        let size: UInt64
        /// What it takes of the disk.
        let allocated: UInt64
        let device: dev_t
        let number: ino_t
        let nameCount: UInt64

        fileprivate init(_ status: stat) {
            size = UInt64(max(0, status.st_size))
            allocated = UInt64(max(0, status.st_blocks)) * 512
            device = status.st_dev
            number = status.st_ino
            nameCount = UInt64(status.st_nlink)
        }
    }

    /// What is in a tree and no file that could be encrypted.
    enum Skipped: CaseIterable { case symbolicLink, pipe, socket, device, keychain, unfinished }

    /// What becomes of a directory that was named.
    enum Directories { case refused, entered, takenAlone }

    let paths: [String]
    let directories: Directories
    let storeFiles: StoreFiles

    func visit(_ body: (Finding) throws -> Void) rethrows {
        for path in paths { try visit(path, body) }
    }

    private func visit(_ path: String, _ body: (Finding) throws -> Void) rethrows {
        var status = stat()
        // A link that somebody names is meant to be followed; one that is found is not.
        guard stat(path, &status) == 0 else { return try body(.failed(FileFailure(path, "open", errno))) }
        let isDirectory = status.st_mode & S_IFMT == S_IFDIR
        if storeFiles.belong(in: isDirectory ? path : parentDirectory(of: path)) {
            return try body(.failed(StoreFiles.refusal(of: path)))
        }
        switch (isDirectory, directories) {
        case (false, _): try body(.file(path, FoundFile(status)))
        case (true, .takenAlone): try body(.directory(path))
        case (true, .entered): try walk(path, body)
        case (true, .refused):
            try body(.failed(FileFailure(path, .parameter, "it is a directory; --recursive means all files below it")))
        }
    }

    // MARK: Trees

    private struct Level {
        let path: String
        /// The next one is the last.
        var names: [String]
    }

    private func walk(_ root: String, _ body: (Finding) throws -> Void) rethrows {
        var levels: [Level] = []
        if let top = try enter(root, O_RDONLY, body) { levels.append(top) }
        while let last = levels.indices.last {
            guard let name = levels[last].names.popLast() else {
                levels.removeLast()
                continue
            }
            let directory = levels[last].path
            if let below = try look(at: name, in: directory, body) {
                levels.append(below)
            }
        }
    }

    /// - Returns: the level below, if it is a directory.
    private func look(
        at name: String, in directory: String, _ body: (Finding) throws -> Void
    ) rethrows -> Level? {
        let path = directory + (directory.hasSuffix("/") ? "" : "/") + name
        var status = stat()
        guard lstat(path, &status) == 0 else {
            // What goes away meanwhile is not missed.
            if errno != ENOENT { try body(.failed(FileFailure(path, "look at", errno))) }
            return nil
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR where storeFiles.belong(in: path): try body(.skipped(.keychain))
        case S_IFDIR: return try enter(path, O_RDONLY | O_NOFOLLOW, body)
        case S_IFREG where ProtectedFiles.isUnfinished(name): try body(.skipped(.unfinished))
        case S_IFREG: try body(.file(path, FoundFile(status)))
        case S_IFLNK: try body(.skipped(.symbolicLink))
        case S_IFIFO: try body(.skipped(.pipe))
        case S_IFSOCK: try body(.skipped(.socket))
        default: try body(.skipped(.device))
        }
        return nil
    }

    private func enter(_ path: String, _ flags: Int32, _ body: (Finding) throws -> Void) rethrows -> Level? {
        try body(.directory(path))
        let descriptor = open(path, flags | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, let stream = fdopendir(descriptor) else {
            try body(.failed(FileFailure(path, "look into", errno)))
            return nil
        }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = Self.name(of: entry)
            if let name, ![".", ".."].contains(name) {
                names.append(name)
            } else if name == nil {
                try body(
                    .failed(FileFailure(path, .parameter, "it has a file whose name is not UTF-8 text: rename that")))
            }
            errno = 0
        }
        if errno != 0 { try body(.failed(FileFailure(path, "look into", errno))) }
        return Level(path: path, names: names.sorted { $1.utf8.lexicographicallyPrecedes($0.utf8) })
    }

    /// nil: it is not UTF-8.
    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
