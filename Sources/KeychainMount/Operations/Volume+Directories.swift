internal import CKeychainFuse
internal import Glibc
internal import KeychainSystem
internal import Synchronization

// Lists of directories.

extension Volume {
    func openDirectory(_ node: Node, _ reply: inout Reply) throws(Refusal) {
        let opened = try node.reopened(O_RDONLY | O_DIRECTORY)
        let number = UInt64(opened.number)
        openDirectories.withLock { $0[number] = opened }
        try reply.add(fuse_open_out(fh: number, open_flags: 0, padding: 0))
    }

    func closeDirectory(_ request: inout Request) throws(Refusal) {
        let number = try request.take(fuse_release_in.self).fh
        _ = openDirectories.withLock { $0.removeValue(forKey: number) }
    }

    func syncDirectory(_ request: inout Request) throws(Refusal) {
        let directory = try descriptor(try request.take(fuse_fsync_in.self).fh)
        guard fsync(directory.number) == 0 else { throw .ofSystem() }
    }

    private func descriptor(_ number: UInt64) throws(Refusal) -> OpenDescriptor {
        guard let found = openDirectories.withLock({ $0[number] }) else { throw Refusal(EBADF) }
        return found
    }

    /// Lists entries from a place on, as many as there is room for.
    ///
    /// - Parameter withAttributes: Whether the kernel is told of the node of each entry.
    func list(
        _ node: Node, _ request: inout Request, _ reply: inout Reply, withAttributes: Bool
    ) throws(Refusal) {
        let arguments = try request.take(fuse_read_in.self)
        let directory = try descriptor(arguments.fh)
        let most = min(Int(arguments.size), reply.room.count)
        var place = Int64(bitPattern: arguments.offset)
        // An entry is larger in the answer than in the list.
        let listSize = withAttributes ? max(1024, most / 4) : most
        var failure: Refusal?
        withUnsafeTemporaryAllocation(byteCount: listSize, alignment: 8) { list in
            do throws(Refusal) {
                while true {
                    var count = 0
                    try Refusal.require(
                        ckeychain_fuse_list(directory.number, place, list.baseAddress!, list.count, &count))
                    if count == 0 { return }
                    for entry in DirectoryEntries(UnsafeRawBufferPointer(rebasing: list[..<count])) {
                        guard try add(entry, of: node, &reply, within: most, withAttributes) else { return }
                        place = entry.next
                    }
                }
            } catch {
                failure = error
            }
        }
        // Entries that are in the answer are not lost; the error comes again with the next call.
        if let failure, reply.payload == 0 { throw failure }
    }

    private func isKnown(_ entry: DirectoryEntry, in directory: Node) -> Bool {
        let number = FileNumber(device: directory.number.device, number: ino_t(entry.number))
        return nodes.node(number)?.told.load(ordering: .relaxed) == Node.clock
    }

    /// - Returns: false if there is no room for it.
    private func add(
        _ entry: DirectoryEntry, of directory: Node, _ reply: inout Reply, within most: Int, _ withAttributes: Bool
    ) throws(Refusal) -> Bool {
        let headSize = withAttributes ? MemoryLayout<fuse_entry_out>.size : 0
        let count = strlen(entry.name)
        // FUSE_NAME_OFFSET of <linux/fuse.h>, and FUSE_DIRENT_ALIGN.
        let size = headSize + (24 + count + 7) & ~7
        guard reply.payload + size <= most else { return false }
        if withAttributes {
            var head = fuse_entry_out()
            // Without attributes the kernel asks for an entry that a program uses, or has them since a moment ago.
            if !entry.isDots, !isKnown(entry, in: directory), let found = try? found(entry.name, in: directory) {
                head = self.entry(found.node, found.status)
            }
            try reply.add(head)
        }
        try reply.add(entry.number)
        try reply.add(entry.next)
        try reply.add(UInt32(count))
        try reply.add(UInt32(entry.type))
        try reply.add(UnsafeRawBufferPointer(start: entry.name, count: count))
        for _ in 0..<(size - headSize - 24 - count) { try reply.add(UInt8(0)) }
        return true
    }
}

/// One entry of getdents64(2).
struct DirectoryEntry {
    let number: UInt64
    /// The place of the entry behind it.
    let next: Int64
    let type: UInt8
    let name: UnsafePointer<CChar>

    /// Whether it is the directory itself, or the one above.
    var isDots: Bool { strcmp(name, ".") == 0 || strcmp(name, "..") == 0 }
}

/// The entries in bytes of getdents64(2).
struct DirectoryEntries: Sequence, IteratorProtocol {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    mutating func next() -> DirectoryEntry? {
        guard rest.count > 19, let base = rest.baseAddress else { return nil }
        let size = Int(rest.loadUnaligned(fromByteOffset: 16, as: UInt16.self))
        guard size > 19, size <= rest.count, rest[19..<size].contains(0) else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[size...]) }
        return DirectoryEntry(
            number: rest.loadUnaligned(as: UInt64.self), next: rest.loadUnaligned(fromByteOffset: 8, as: Int64.self),
            type: rest[18], name: (base + 19).assumingMemoryBound(to: CChar.self))
    }
}
