internal import FoundationEssentials
internal import Glibc
package import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// Reads any part of the content of a protected file, from several threads at once.
///
/// Every byte that is given out was authenticated together with all nodes above it. Nodes are read when they are first
/// needed.
package final class SealedFileReader: Sendable {
    package let header: FileHeader
    private let file: Int32
    private let path: String
    private let cipher: FileCipher
    private let tree: FileTree
    private let nodes: NodeCache

    /// Prepares reading.
    ///
    /// - Parameters:
    ///   - file: The file, which stays open for reading for as long as this exists.
    ///   - header: A header that was verified with the file key.
    ///   - nodes: The verified nodes of this file.
    package init(_ file: Int32, _ path: String, header: FileHeader, cipher: FileCipher, nodes: NodeCache = NodeCache())
    {
        self.file = file
        self.path = path
        self.header = header
        self.cipher = cipher
        self.nodes = nodes
        tree = header.tree
    }

    /// A reader of another header of the file, which knows no nodes yet.
    func of(_ header: FileHeader) -> SealedFileReader {
        SealedFileReader(file, path, header: header, cipher: cipher)
    }

    var length: UInt64 { header.length }
    private var chunkSize: Int { Int(tree.chunkSize) }
    var groupSize: Int { chunkSize * FileFormat.fanOut }

    // MARK: Content

    /// Reads a part of the content, which must be within its length.
    func read(_ range: Range<UInt64>, into target: UnsafeMutableRawBufferPointer) throws(DataProtectionError) {
        precondition(range.upperBound <= length && range.count == target.count)
        if range.isEmpty { return }
        let groupSize = UInt64(groupSize)
        let first = range.lowerBound / groupSize
        let count = Int((range.upperBound - 1) / groupSize - first) + 1
        nonisolated(unsafe) let target = target  // each thread writes a part of its own
        try Parallel.forEach(count, state: { SpareChunk(self.chunkSize) }) {
            (number, spare) throws(DataProtectionError) in
            let index = first + UInt64(number)
            if count > 1 { self.prefetch(behind: number, of: count, from: index) }
            let part = range.clamped(to: (index * groupSize)..<((index + 1) * groupSize))
            let start = Int(part.lowerBound - range.lowerBound)
            try self.readGroup(index, part, into: target.extracting(start..<(start + part.count)), spare)
        }
    }

    /// The number of groups that are requested before they are read, so that disk and processors work in parallel.
    private static let groupsAhead: UInt64 = 16

    /// Tells the kernel which bytes will be read soon.
    ///
    /// The places of groups are a guess. It is right for a file that was written whole, and harmless otherwise.
    private func prefetch(behind number: Int, of count: Int, from group: UInt64) {
        // Several groups are requested at a time, since each call takes about as long as submitting the requests takes.
        let step = Self.groupsAhead / 2
        guard UInt64(number) % step == 0 else { return }
        let size = header.storedSize / max(1, tree.count(atLevel: 1))
        let start = number == 0 ? group : group + step
        let end = min(group + 2 * step, group + UInt64(count - number))
        guard start < end else { return }
        posix_fadvise(
            file, off_t(FileFormat.headerByteCount) + off_t(start * size), off_t((end - start) * size + size),
            POSIX_FADV_WILLNEED)
    }

    /// A buffer for a chunk of which only a part is wanted.
    private final class SpareChunk {
        private let count: Int
        private(set) lazy var buffer = ContentBuffer.spare(count: count)
        init(_ count: Int) { self.count = count }
    }

    /// Reads a part of the content that is below one node of the lowest level.
    private func readGroup(
        _ group: UInt64, _ range: Range<UInt64>, into target: UnsafeMutableRawBufferPointer, _ spare: SpareChunk
    ) throws(DataProtectionError) {
        let entries = try groupEntries(group)
        let size = tree.chunkSize
        var chunk = range.lowerBound / size
        while chunk * size < range.upperBound {
            let run = try wholeChunks(from: chunk, range, entries)
            let start = chunk * size
            if run > 0 {
                let end = min(start + run * size, range.upperBound)
                let offset = Int(start - range.lowerBound)
                try readWhole(chunk, run, entries, into: target.extracting(offset..<(offset + Int(end - start))))
                chunk += run
            } else {
                try readPart(of: chunk, range, entries, into: target, spare)
                chunk += 1
            }
        }
    }

    /// The entries of the chunks of a group. `nil` stands for a hole.
    private func groupEntries(_ group: UInt64) throws(DataProtectionError) -> FileNode {
        guard tree.depth > 0 else {
            var only = FileNode()
            only[0] = header.root
            return only
        }
        return try node(NodePlace(level: 1, index: group)) ?? FileNode()
    }

    private func entry(of chunk: UInt64, _ entries: FileNode) -> FileEntry? {
        entries[Int(chunk % UInt64(FileFormat.fanOut))]
    }

    /// The number of chunks, from this one on, that are wanted whole, are stored whole, and lie one behind the other.
    private func wholeChunks(
        from chunk: UInt64, _ range: Range<UInt64>, _ entries: FileNode
    ) throws(DataProtectionError) -> UInt64 {
        var count: UInt64 = 0
        var place: UInt64?
        let end = (chunk / UInt64(FileFormat.fanOut) + 1) * UInt64(FileFormat.fanOut)
        while chunk + count < end {
            let index = chunk + count
            let start = index * tree.chunkSize
            guard start >= range.lowerBound, start < range.upperBound, let entry = entry(of: index, entries)
            else { break }
            try check(entry, NodePlace(level: 0, index: index))
            guard place == nil || entry.page == place, start + tree.content(ofChunk: index) <= range.upperBound,
                UInt64(entry.length) == tree.content(ofChunk: index)
            else { break }
            count += 1
            place = entry.page + tree.chunkSize / UInt64(FileFormat.pageSize)
            if UInt64(entry.length) < tree.chunkSize { break }
        }
        return count
    }

    /// Reads chunks into the caller's memory and decrypts them there.
    private func readWhole(
        _ first: UInt64, _ count: UInt64, _ entries: FileNode, into target: UnsafeMutableRawBufferPointer
    ) throws(DataProtectionError) {
        let (offset, place) = (entry(of: first, entries)!.offset, NodePlace(level: 0, index: first))
        guard try target.fill(from: file, at: offset, path) == target.count else { throw error(.missing, place) }
        let end = first + count
        var index = first
        while index < end {
            // One content key nearly always serves all of them: it is good for two thousand million writes.
            let opened = cipher.withContentKey(for: entry(of: index, entries)!.writeCount) { cipher -> UInt64? in
                var number = index
                while number < end, let entry = entry(of: number, entries), cipher.serves(entry.writeCount) {
                    let start = Int(number - first) * chunkSize
                    let bytes = target.extracting(start..<(start + Int(entry.length)))
                    guard
                        cipher.open(UnsafeRawBufferPointer(bytes), level: 0, index: number, entry: entry, into: bytes)
                    else { return nil }
                    number += 1
                }
                return number
            }
            guard let opened else { throw error(.changed, place) }
            index = opened
        }
    }

    /// Reads a chunk of which a part is wanted, or a part is stored, or which is a hole.
    private func readPart(
        of chunk: UInt64, _ range: Range<UInt64>, _ entries: FileNode, into target: UnsafeMutableRawBufferPointer,
        _ spare: SpareChunk
    ) throws(DataProtectionError) {
        let start = chunk * tree.chunkSize
        let wanted = range.clamped(to: start..<(start + tree.content(ofChunk: chunk)))
        let offset = Int(wanted.lowerBound - range.lowerBound)
        let part = target.extracting(offset..<(offset + wanted.count))
        var stored = UnsafeRawBufferPointer(start: nil, count: 0)
        if let entry = entry(of: chunk, entries) {
            try require(entry, NodePlace(level: 0, index: chunk), in: spare.buffer)
            stored = UnsafeRawBufferPointer(spare.buffer.bytes.extracting(..<Int(entry.length)))
        }
        // The part of a chunk that is not stored is zeros.
        let from = min(Int(wanted.lowerBound - start), stored.count)
        let copied = stored[from..<min(Int(wanted.upperBound - start), stored.count)]
        part.copyMemory(from: UnsafeRawBufferPointer(rebasing: copied))
        part.zero(copied.count..<part.count)
    }

    // MARK: Nodes

    /// The node at a place.
    ///
    /// - Returns: `nil` for a hole, and for a place that the tree does not have.
    func node(_ place: NodePlace) throws(DataProtectionError) -> FileNode? {
        guard let entry = try entry(ofNode: place) else { return nil }
        if let node = nodes.node(at: place, for: entry) { return node }
        let node = try load(entry, place)
        nodes.keep(node, at: place, for: entry)
        return node
    }

    /// The entry of a node, or of a chunk at level 0.
    ///
    /// - Returns: `nil` for a hole, and for a place that the tree does not have.
    func entry(ofNode place: NodePlace) throws(DataProtectionError) -> FileEntry? {
        if place.level == tree.depth { return place.index == 0 ? header.root : nil }
        guard place.level < tree.depth else { return nil }
        return try node(place.parent)?[place.indexInParent]
    }

    private func load(_ entry: FileEntry, _ place: NodePlace) throws(DataProtectionError) -> FileNode {
        let buffer = ContentBuffer.spare(count: FileFormat.nodeByteCount)
        buffer.isSecret = false
        try require(entry, place, in: buffer)
        let bytes = UnsafeRawBufferPointer(buffer.bytes.extracting(..<Int(entry.length)))
        return try withFormatErrors(path) { () throws(FileFormatError) in try FileNode(decoding: bytes) }
    }

    // MARK: Parts

    /// Opens a chunk or a node into memory.
    ///
    /// - Parameter target: Memory for a whole chunk or node.
    /// - Returns: The reason for which it does not open. `nil` means that it opens.
    func open(
        _ entry: FileEntry, _ place: NodePlace, into target: UnsafeMutableRawBufferPointer
    ) throws(DataProtectionError) -> PartFlaw? {
        do throws(FileFormatError) { try checkForm(entry, place) } catch { return .entry(error) }
        let bytes = target.extracting(..<Int(entry.length))
        do throws(DataProtectionError) {
            guard try bytes.fill(from: file, at: entry.offset, path) == bytes.count else { return .missing }
        } catch {
            guard let failure = error.errno, PartFlaw.failuresOfDisks.contains(failure) else { throw error }
            return .unreadable(failure)
        }
        let isOpen = cipher.open(
            UnsafeRawBufferPointer(bytes), level: place.level, index: place.index, entry: entry, into: bytes)
        return isOpen ? nil : .changed
    }

    /// Opens a chunk or a node, or refuses the file.
    func require(
        _ entry: FileEntry, _ place: NodePlace, in buffer: ContentBuffer
    ) throws(DataProtectionError) {
        if let flaw = try open(entry, place, into: buffer.bytes) { throw error(flaw, place) }
    }

    /// Whether the stored bytes of a part are all zeros.
    func isZero(_ entry: FileEntry, in buffer: ContentBuffer) throws(DataProtectionError) -> Bool {
        let bytes = buffer.bytes.extracting(..<Int(entry.length))
        return try bytes.fill(from: file, at: entry.offset, path) == bytes.count && bytes.allSatisfy { $0 == 0 }
    }

    /// The error with which a reader refuses a flaw.
    private func error(_ flaw: PartFlaw, _ place: NodePlace) -> DataProtectionError {
        switch flaw {
        case .entry(let error): DataProtectionError(error, path)
        case .unreadable(let number): .system("read", path, errno: number)
        // The size was checked when the file was opened.
        case .missing: DataProtectionError(.truncated, path, "the file was cut short while it was being read")
        case .changed:
            DataProtectionError(
                .tampered, path,
                (place.level == 0 ? "content of the file" : "the table of the file's content")
                    + " was changed by something that did not have its key, or is damaged")
        }
    }

    private func checkForm(_ entry: FileEntry, _ place: NodePlace) throws(FileFormatError) {
        try tree.check(
            entry, level: place.level, index: place.index, storedSize: header.storedSize,
            writeCount: header.writeCount)
    }

    /// Makes sure that an entry can be one of this file.
    func check(_ entry: FileEntry, _ place: NodePlace) throws(DataProtectionError) {
        try withFormatErrors(path) { () throws(FileFormatError) in try checkForm(entry, place) }
    }
}

/// The reason why a chunk or a node gives no content.
package enum PartFlaw: Sendable, Hashable {
    /// Its entry contradicts the header.
    case entry(FileFormatError)
    /// The disk does not read it. That is no sign of a crash, so it is no reason to use the other header.
    case unreadable(Int32)
    /// It lies beyond the end of the file.
    case missing
    /// It was changed without the file's key, or is damaged.
    case changed

    /// The errors with which a failing disk refuses to read a block.
    fileprivate static let failuresOfDisks = [EIO, ENODATA, EBADMSG, EILSEQ, EUCLEAN, EREMOTEIO]
}
