internal import CKeychainFuse
internal import DataProtectionCore
internal import FoundationEssentials
internal import Glibc
internal import KeychainSystem
internal import Synchronization

/// The content of a file that programs have open. All of them share it, so that writers of one file know its free space.
enum Content: Sendable {
    /// A plain file, or an empty one that was not written yet. It is only read.
    case plain(OpenDescriptor, isEmpty: Bool)
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
        case .plain(let descriptor, _):
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
}

extension Node {
    /// Opens the content for a program, or for a call of this one. Each call is followed by one of ``release()``.
    ///
    /// - Parameter flags: The flags of open(2).
    /// - Throws: `EACCES` while the keychain is locked and the class forbids it; `EPERM` for a plain file that is to be
    ///   written.
    func open(_ flags: Int32, _ files: ProtectedFiles) throws(Refusal) {
        let truncates = flags & O_TRUNC != 0
        guard isRegular else { throw Refusal(ENXIO) }
        // Counted first, so that no other program's closing closes it meanwhile.
        count()
        do throws(Refusal) {
            try awake { () throws(Refusal) in
                try holding(opening) { () throws(Refusal) in
                    try load(flags & O_ACCMODE != O_RDONLY || truncates, replaces: truncates, files)
                }
                if truncates { try empty() }
            }
        } catch {
            release()
            throw error
        }
    }

    /// The number of files that programs have open.
    static let openFiles = Atomic(0)

    private func count() {
        use.withLock { use in
            use.opens += 1
            if use.opens == 1 { Self.openFiles.add(1, ordering: .relaxed) }
        }
    }

    /// The longest time for which a call waits for another program, which has the file locked.
    static let longestWait = Duration.seconds(10)

    private func holding(_ lock: Condition, _ body: () throws(Refusal) -> Void) throws(Refusal) {
        let end = ContinuousClock.now + Self.longestWait
        while !lock.tryLock() {
            guard .now < end else { throw Refusal(EBUSY) }
            usleep(200)
        }
        defer { lock.unlock() }
        try body()
    }

    /// Removes the content of the open file. A call may wait for another program, and takes a thread meanwhile. If that
    /// program keeps the file for too long, the call fails, and so do all calls in the next ten seconds, without a wait.
    private func empty() throws(Refusal) {
        guard busyUntil.withLock({ $0 < .now }) else { throw Refusal(EBUSY) }
        do throws(Refusal) {
            let writer = try content().writer()
            try holding(emptying) { () throws(Refusal) in
                try refusing { () throws(DataProtectionError) in try writer.truncate(to: 0) }
            }
        } catch {
            if error.number == EBUSY { busyUntil.withLock { $0 = .now + Self.longestWait } }
            throw error
        }
    }

    private func load(_ writes: Bool, replaces: Bool, _ files: ProtectedFiles) throws(Refusal) {
        if let present = use.withLock({ $0.content }), present.mayWrite || !writes {
            try present.requireOpening()
            noteOpen(present)
        } else {
            noteOpen(try loaded(writes, replaces: replaces, files))
        }
    }

    private func noteOpen(_ content: Content) {
        var (isGuarded, found, isRetreat) = (true, ProtectedFiles.ContentMark?.none, false)
        switch content {
        // An empty file may become one of any class while it is open.
        case .plain(_, let isEmpty): isGuarded = isEmpty
        // A class that cannot be found out counts as guarded.
        case .sealed(let handle, _):
            if let state = try? handle.state() {
                (isGuarded, found, isRetreat) = (state.protection.isGuarded, state.mark, state.isRetreat)
            }
        }
        use.withLock { use in
            use.content = content
            (use.isGuarded, use.found, use.isRetreat) = (isGuarded, found, isRetreat)
            use.mayHavePages = true
        }
    }

    /// Opens a file that was just made and is empty.
    func open(made handle: ProtectedFileHandle) {
        count()
        noteOpen(.sealed(handle, mayWrite: true))
    }

    /// - Parameter replaces: Whether the content of a plain file is not wanted any more.
    private func loaded(
        _ writes: Bool, replaces: Bool, _ files: ProtectedFiles
    ) throws(Refusal) -> Content {
        let file = try reopenedByOwner(writes ? O_RDWR : O_RDONLY)
        return try refusing { () throws(DataProtectionError) in
            func opened() throws(DataProtectionError) -> Content {
                .sealed(try files.open(descriptor: try file.duplicate(path), path, mayWrite: writes), mayWrite: writes)
            }
            do throws(DataProtectionError) {
                return try opened()
            } catch {
                guard error.code == .notProtected else { throw error }
                let kind = try ProtectedFiles.kind(of: file.number, path)
                // Another program may have made a protected one of it.
                guard kind == .empty || kind == .plain else { return try opened() }
                if !writes { return .plain(file, isEmpty: kind == .empty) }
                guard kind == .empty || replaces else { throw error }
                let new = try files.newFile(try classOfNewFile(files), path)
                return .sealed(
                    try files.make(new, descriptor: try file.duplicate(path), path, replacesPlain: replaces),
                    mayWrite: true)
            }
        }
    }

    private func classOfNewFile(_ files: ProtectedFiles) throws(DataProtectionError) -> FileProtection {
        guard let directory = place.withLock({ $0?.directory }) else {
            throw .system("find the directory of", path, errno: ESTALE)
        }
        return try files.classOfNewFile(in: directory)
    }

    /// Opens the file itself.
    ///
    /// - Parameter keepsTime: Whether reading leaves the time of access as it is, where that is allowed.
    func reopened(_ flags: Int32, keepsTime: Bool = false) throws(Refusal) -> OpenDescriptor {
        let flags = flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        let keepingTime: Int32 = 0o1000000  // O_NOATIME, which Glibc's module hides
        return try awake { () throws(Refusal) in
            var opened = Glibc.open(path, keepsTime ? flags | keepingTime : flags)
            if opened < 0 && errno == EPERM && keepsTime { opened = Glibc.open(path, flags) }
            guard opened >= 0 else { throw .ofSystem() }
            return OpenDescriptor(opened)
        }
    }

    /// Opens the file for a program that the kernel has let open it, even if the mode does not allow what a header takes: one
    /// for writing alone is read too, and a class is changed in a file that is only read.
    private func reopenedByOwner(_ flags: Int32) throws(Refusal) -> OpenDescriptor {
        do throws(Refusal) {
            return try reopened(flags)
        } catch {
            let mode = try status().st_mode & 0o7777
            guard error.number == EACCES, mode & 0o600 != 0o600, chmod(path, mode | 0o600) == 0 else { throw error }
            defer { chmod(path, mode) }
            return try reopened(flags)
        }
    }

    /// The end of one ``open(_:_:)``. With the last one the key of the file leaves this process.
    ///
    /// - Returns: Whether the file is closed, and was of a guarded class.
    @discardableResult
    func release() -> Bool {
        use.withLock { use in
            use.opens -= 1
            guard use.opens == 0 else { return false }
            Self.openFiles.subtract(1, ordering: .relaxed)
            if case .sealed(let handle, _) = use.content { handle.closeWithoutWaiting() }
            use.content = nil
            return use.isGuarded
        }
    }

    /// The content of a file that is open.
    func content() throws(Refusal) -> Content {
        guard let content = use.withLock({ $0.content }) else { throw Refusal(EBADF) }
        return content
    }

    /// Waits until the disk has everything that was written, by any program.
    ///
    /// The header that says so is no change of the content, so the time of modification stays: programs compare it.
    func sync(_ files: ProtectedFiles) throws(Refusal) {
        switch try content() {
        case .plain(let descriptor, _):
            guard fsync(descriptor.number) == 0 else { throw .ofSystem() }
        case .sealed(let handle, _):
            let (before, mark) = (try status().st_mtim, try contentMark())
            do throws(Refusal) {
                try refusing { () throws(DataProtectionError) in try handle.sync() }
            } catch {
                // A file that is open for reading, with writes that the disk may lack.
                guard error.number == EBADF else { throw error }
                try withContent(O_RDWR, files) { (content) throws(Refusal) in
                    let writer = try content.writer()
                    try refusing { () throws(DataProtectionError) in try writer.sync() }
                }
            }
            try putBack(before, of: mark)
        }
    }

    /// Puts the time of modification back that belongs to content. Another program may have changed that meanwhile.
    private func putBack(_ time: timespec, of mark: ProtectedFiles.ContentMark?) throws(Refusal) {
        let present = try status().st_mtim
        guard (present.tv_sec, present.tv_nsec) != (time.tv_sec, time.tv_nsec), try contentMark() == mark else {
            return
        }
        try setTimes([.omitted, time])
        if try contentMark() != mark { try setTimes([.omitted, .now]) }
    }

    private func contentMark() throws(Refusal) -> ProtectedFiles.ContentMark? {
        let file = try reopened(O_RDONLY, keepsTime: true)
        return try refusing { () throws(DataProtectionError) in try ProtectedFiles.contentMark(of: file.number, path) }
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

extension ProtectedFiles {
    func classOfNewFile(in directory: Node) throws(DataProtectionError) -> FileProtection {
        try inheritedProtection(directory.path) ?? .completeUntilFirstUserAuthentication
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
