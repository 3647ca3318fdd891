internal import CKeychainFuse
internal import DataProtectionCore
internal import Glibc
internal import KeychainSystem
internal import Synchronization

// The content of files.

extension Volume {
    func open(_ node: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        let flags = Int32(bitPattern: try request.take(fuse_open_in.self).flags)
        try node.open(flags, files)
        makeRoom(for: node)
        try reply.add(opened(node))
    }

    /// Content of guarded classes goes past the system's memory, and shared mappings of it are refused. The kernel keeps its
    /// pages of other content if that is the same as at the opening before. With two openings, one could keep pages that the
    /// other one is about to drop.
    private func opened(_ node: Node) -> fuse_open_out {
        let (flags, isRetreat) = node.use.withLock { use in
            let keeps = use.opens == 1 && use.found != nil && use.found == use.ofPages
            use.ofPages = use.isGuarded ? nil : use.found
            return (use.isGuarded ? FOPEN_DIRECT_IO : keeps ? FOPEN_KEEP_CACHE : 0, use.isRetreat)
        }
        if isRetreat, let status = try? node.status() {
            _ = lengths.length(of: node, status)
            notices.attributes(of: node)
        }
        return fuse_open_out(fh: 0, open_flags: UInt32(flags), padding: 0)
    }

    /// Makes a file of the class that its directory gives, and opens it.
    func create(in directory: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        let arguments = try request.take(fuse_create_in.self)
        let name = try request.takeName()
        let flags = Int32(bitPattern: arguments.flags)
        var node: Node
        do throws(Refusal) {
            node = try make(name, in: directory, mode_t(arguments.mode))
        } catch {
            guard error.number == EEXIST, flags & O_EXCL == 0 else { throw error }
            node = try found(name, in: directory).node
            do throws(Refusal) {
                try node.open(flags, files)
            } catch {
                nodes.forget(node.id, 1)
                throw error
            }
        }
        do throws(Refusal) {
            try reply.add(entry(node, try node.status()))
            try reply.add(opened(node))
        } catch {
            node.release()
            nodes.forget(node.id, 1)
            throw error
        }
    }

    private static let namesOnly: Int32 = 0o10000000  // O_PATH, which Glibc's module hides

    /// Makes a file, and opens it.
    private func make(
        _ name: UnsafePointer<CChar>, in directory: Node, _ mode: mode_t
    ) throws(Refusal) -> Node {
        let path = directory.path
        // The key comes first, so that a refusal leaves no file behind.
        let new = try refusing { () throws(DataProtectionError) in
            try files.newFile(try files.classOfNewFile(in: directory), path)
        }
        let descriptor = openat(
            directory.descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode)
        guard descriptor >= 0 else { throw .ofSystem() }
        var (made, named) = (stat(), stat())
        // Another program may have given the name to another file meanwhile.
        let itself = Glibc.open("/proc/self/fd/\(descriptor)", Self.namesOnly | O_CLOEXEC)
        do throws(Refusal) {
            guard itself >= 0, fstat(descriptor, &made) == 0 else {
                let refusal = Refusal.ofSystem()
                close(descriptor)
                if itself >= 0 { close(itself) }
                throw refusal
            }
            let file = OpenDescriptor(itself)
            let handle = try refusing { () throws(DataProtectionError) in
                try files.make(new, descriptor: descriptor, path, replacesPlain: false)
            }
            let node = nodes.found(file, made)
            node.noteName(name, in: directory)
            node.open(made: handle)
            makeRoom(for: node)
            return node
        } catch {
            let isThere = fstatat(directory.descriptor, name, &named, AT_SYMLINK_NOFOLLOW) == 0
            if isThere && FileNumber(named) == FileNumber(made) { unlinkat(directory.descriptor, name, 0) }
            throw error
        }
    }

    func read(_ node: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        let arguments = try request.take(fuse_read_in.self)
        guard Int(arguments.size) <= reply.room.count else { throw Refusal(EINVAL) }
        let target = UnsafeMutableRawBufferPointer(rebasing: reply.room[..<Int(arguments.size)])
        reply.add(
            try withContent(of: node) { (content) throws(Refusal) in
                try content.read(at: arguments.offset, into: target)
            })
    }

    /// A write across each multiple of it has the disk begin, so that the sync of a large file has little left to wait for.
    private static let syncedPart: UInt64 = 8 << 20

    func write(_ node: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        let arguments = try request.take(fuse_write_in.self)
        let bytes = try request.takeBytes(Int(arguments.size))
        let isOfMapping = arguments.write_flags & UInt32(FUSE_WRITE_CACHE) != 0
        let appends = Int32(bitPattern: arguments.flags) & O_APPEND != 0 && !isOfMapping
        try withContent(of: node) { (content) throws(Refusal) in
            let writer = try content.writer()
            let place = try refusing { () throws(DataProtectionError) -> UInt64 in
                if appends { return try writer.append(bytes) }
                try writer.write(bytes, at: arguments.offset)
                return arguments.offset
            }
            // A program beside the mount has added to the file, and the kernel has the bytes at another place.
            if place != arguments.offset { notices.pages(of: node) }
            if place ^ (place + UInt64(bytes.count)) >= Self.syncedPart { writer.beginSync() }
        }
        // The kernel asks for the sync itself only where it keeps content.
        let flags = Int32(bitPattern: arguments.flags)
        if flags & (O_SYNC | O_DSYNC) != 0, node.use.withLock({ $0.isGuarded }) { try node.sync(files) }
        try reply.add(fuse_write_out(size: arguments.size, padding: 0))
    }

    /// Runs a call on the content of an open file, which a lock waits for.
    private func withContent<R>(of node: Node, _ body: (Content) throws(Refusal) -> R) throws(Refusal) -> R {
        try calls.during { () throws(Refusal) in try body(try node.content()) }
    }

    /// - Parameter isOpen: Whether the program has the file open. An open file of class B is changed while locked too.
    func truncate(_ node: Node, to length: UInt64, isOpen: Bool) throws(Refusal) {
        if isOpen {
            return try withContent(of: node) { (content) throws(Refusal) in
                let writer = try content.writer()
                try refusing { () throws(DataProtectionError) in try writer.truncate(to: length) }
            }
        }
        // The content of a plain file may be removed whole.
        let flags = length == 0 ? O_WRONLY | O_TRUNC : O_WRONLY
        try node.withContent(flags, files) { (content) throws(Refusal) in
            if length == 0 { return }
            let writer = try content.writer()
            try refusing { () throws(DataProtectionError) in try writer.truncate(to: length) }
        }
    }

    // FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE and FALLOC_FL_ZERO_RANGE of fallocate(2).
    private static let (keepsSize, punches, zeroes): (UInt32, UInt32, UInt32) = (1, 2, 0x10)

    /// Makes room or holes. A change of encrypted content always takes new space, so no space is set aside: the call only
    /// looks whether there is enough at this moment.
    func allocate(_ node: Node, _ request: inout Request) throws(Refusal) {
        let arguments = try request.take(fuse_fallocate_in.self)
        let (end, overflow) = arguments.offset.addingReportingOverflow(arguments.length)
        guard !overflow else { throw Refusal(EFBIG) }
        guard
            [0, Self.keepsSize, Self.keepsSize | Self.punches, Self.zeroes, Self.zeroes | Self.keepsSize]
                .contains(arguments.mode)
        else { throw Refusal(EOPNOTSUPP) }
        let writer = try node.content().writer()
        let makesZeros = arguments.mode & (Self.punches | Self.zeroes) != 0
        let length = try refusing { () throws(DataProtectionError) in try writer.length }
        if !makesZeros && end > length { try requireSpace(end - max(length, arguments.offset)) }
        try refusing { () throws(DataProtectionError) in
            if makesZeros { try writer.punch(arguments.offset..<end) }
            if arguments.mode & Self.keepsSize == 0, length < end { try writer.truncate(to: end) }
        }
    }

    private func requireSpace(_ count: UInt64) throws(Refusal) {
        let statistics = try statistics()
        guard UInt64(statistics.f_bavail) * UInt64(statistics.f_frsize) >= count else { throw Refusal(ENOSPC) }
    }

    func statistics() throws(Refusal) -> statvfs {
        var statistics = statvfs()
        guard fstatvfs(nodes.root.descriptor, &statistics) == 0 else { throw .ofSystem() }
        return statistics
    }

    func statistics(_ reply: inout Reply) throws(Refusal) {
        let found = try statistics()
        try reply.add(
            fuse_statfs_out(
                st: fuse_kstatfs(
                    blocks: UInt64(found.f_blocks), bfree: UInt64(found.f_bfree), bavail: UInt64(found.f_bavail),
                    files: UInt64(found.f_files), ffree: UInt64(found.f_ffree),
                    bsize: UInt32(truncatingIfNeeded: found.f_bsize),
                    namelen: UInt32(truncatingIfNeeded: found.f_namemax),
                    frsize: UInt32(truncatingIfNeeded: found.f_frsize), padding: 0, spare: (0, 0, 0, 0, 0, 0))))
    }
}
