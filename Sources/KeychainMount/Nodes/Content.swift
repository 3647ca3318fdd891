internal import CKeychainFuse
internal import DataProtectionCore
internal import FoundationEssentials
internal import Glibc
internal import KeychainSystem
internal import Synchronization

/// The content of a file that programs have open. All of them share it, so that writers of one file know its free space.
enum Content: Sendable {
    /// A plain file, or an empty one that was not written yet. It is only read.
    case plain(OpenDescriptor)
    case sealed(ProtectedFileHandle, mayWrite: Bool)

    var mayWrite: Bool { if case .sealed(_, mayWrite: true) = self { true } else { false } }

    /// - Throws: `EACCES` if the keychain is locked, and no program may open the file now.
    func requireOpening() throws(Refusal) {
        guard case .sealed(let handle, _) = self else { return }
        try refusing { () throws(DataProtectionError) in
            _ = try handle.length
            try handle.requireOpening()
        }
    }

    func read(at offset: UInt64, into target: UnsafeMutableRawBufferPointer) throws(Refusal) -> Int {
        switch self {
        case .sealed(let handle, _):
            return try refusing { () throws(DataProtectionError) in try handle.read(at: offset, into: target) }
        case .plain(let descriptor):
            let count = pread(descriptor.number, target.baseAddress, target.count, off_t(clamping: offset))
            guard count >= 0 else { throw .ofSystem() }
            return count
        }
    }

    /// The handle of a file that may be written.
    func writer() throws(Refusal) -> ProtectedFileHandle {
        guard case .sealed(let handle, mayWrite: true) = self else { throw Refusal(EPERM) }
        return handle
    }

    fileprivate func sync() throws(Refusal) {
        switch self {
        case .plain(let descriptor):
            guard fsync(descriptor.number) == 0 else { throw .ofSystem() }
        case .sealed(let handle, let mayWrite):
            if !mayWrite { return }
            try refusing { () throws(DataProtectionError) in try handle.sync() }
        }
    }
}

extension Node {
    /// Opens the content for a program, or for a call of this one. Each call is followed by one of ``release()``.
    ///
    /// - Parameter flags: The flags of open(2).
    /// - Throws: `EACCES` while the keychain is locked and the class forbids it; `EPERM` for a plain file that is to be
    ///   written.
    func open(_ flags: Int32, _ files: ProtectedFiles) throws(Refusal) {
        let writes = flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0
        try use.withLock { use throws(Refusal) in
            if let content = use.content, content.mayWrite || !writes {
                try content.requireOpening()
            } else {
                use.isGuarded = try load(writes, truncates: flags & O_TRUNC != 0, files, &use.content) || use.isGuarded
            }
            if flags & O_TRUNC != 0, let writer = try use.content?.writer() {
                try refusing { () throws(DataProtectionError) in try writer.truncate(to: 0) }
            }
            use.opens += 1
            use.mayHavePages = true
        }
    }

    /// Opens a file that was just made and is empty.
    func open(made handle: ProtectedFileHandle, isGuarded: Bool) {
        use.withLock { use in
            use.content = .sealed(handle, mayWrite: true)
            use.isGuarded = isGuarded
            use.opens += 1
            use.mayHavePages = true
        }
    }

    /// - Returns: Whether the class is a guarded one.
    private func load(
        _ writes: Bool, truncates: Bool, _ files: ProtectedFiles, _ content: inout Content?
    ) throws(Refusal) -> Bool {
        let file = try reopened(writes ? O_RDWR : O_RDONLY)
        var kind = try refusing { () throws(DataProtectionError) in try ProtectedFiles.kind(of: file.number, path) }
        if kind == .plain && truncates {
            guard ftruncate(file.number, 0) == 0 else { throw .ofSystem() }
            kind = .empty
        }
        switch kind {
        case .plain, .empty:
            if !writes {
                content = .plain(file)
                return false
            }
            guard kind == .empty else { throw Refusal(EPERM) }
            let protection = try refusing { () throws(DataProtectionError) in try classOfNewFile(files) }
            content = try refusing { () throws(DataProtectionError) in
                let new = try files.newFile(protection, path)
                return .sealed(try files.make(new, descriptor: try file.duplicate(path), path), mayWrite: true)
            }
            return protection.isGuarded
        case .protected(let protection, _):
            content = try refusing { () throws(DataProtectionError) in
                .sealed(try files.open(descriptor: try file.duplicate(path), path, mayWrite: writes), mayWrite: writes)
            }
            return protection.isGuarded
        case .damaged:
            // The call says what is wrong.
            _ = try refusing { () throws(DataProtectionError) in
                try files.open(descriptor: try file.duplicate(path), path, mayWrite: false)
            }
            throw Refusal(EIO)
        }
    }

    private func classOfNewFile(_ files: ProtectedFiles) throws(DataProtectionError) -> FileProtection {
        // The kernel says where the file is now.
        let place = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? ""
        let directory = FilePath.directory(of: place)
        return try files.inheritedProtection(directory) ?? .completeUntilFirstUserAuthentication
    }

    /// Opens the file itself.
    ///
    /// - Parameter keepsTime: Whether reading leaves the time of access as it is, where that is allowed.
    func reopened(_ flags: Int32, keepsTime: Bool = false) throws(Refusal) -> OpenDescriptor {
        var opened: Int32 = -1
        try Refusal.require(
            ckeychain_fuse_reopen(descriptor.number, flags | O_NONBLOCK, keepsTime ? 1 : 0, &opened))
        return OpenDescriptor(opened)
    }

    /// The end of one ``open(_:_:)``. With the last one the key of the file leaves this process.
    ///
    /// - Returns: Whether the file is closed, and was of a guarded class.
    @discardableResult
    func release() -> Bool {
        use.withLock { use in
            use.opens -= 1
            guard use.opens <= 0 else { return false }
            if case .sealed(let handle, _) = use.content { handle.closeWithoutWaiting() }
            use.content = nil
            use.opens = 0
            return use.isGuarded
        }
    }

    /// The content of a file that is open.
    func content() throws(Refusal) -> Content {
        guard let content = use.withLock({ $0.content }) else { throw Refusal(EBADF) }
        return content
    }

    /// Waits until the disk has everything that was written.
    ///
    /// The header that says so is no change of the content, so the time of modification stays: programs compare it.
    func sync() throws(Refusal) {
        let content = try content()
        let before = try status().st_mtim
        try content.sync()
        let after = try status().st_mtim
        guard (after.tv_sec, after.tv_nsec) != (before.tv_sec, before.tv_nsec) else { return }
        try Refusal.require(ckeychain_fuse_set_times(descriptor.number, [.omitted, before]))
    }

    /// Runs a call on the content, which need not be open.
    func withContent<R>(
        _ flags: Int32, _ files: ProtectedFiles, _ body: (Content) throws(Refusal) -> R
    ) throws(Refusal) -> R {
        try open(flags, files)
        defer { release() }
        return try body(try content())
    }
}

extension OpenDescriptor {
    /// Another descriptor of this open file, which the caller closes.
    fileprivate func duplicate(_ path: String) throws(DataProtectionError) -> Int32 {
        let duplicate = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { throw .system("open", path) }
        return duplicate
    }
}
