internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// One change of a file in place: new chunks, the nodes above them, and the header that puts them into effect.
///
/// docs/file-format.md describes it in "Changing a file in place". No page that the present header or the base refers
/// to is written, so a change that fails or is never committed leaves the file as it was. The value belongs to one
/// thread, which holds the lock of writers.
struct SealedFileChange: ~Copyable {
    private var changed: ChangedTree
    private let baseWriteCount: UInt64
    private let bootMark: FileHeader.BootMark
    private let key: OpenFileKey
    private let file: Int32
    private let path: String
    private let files: any FileSystem
    private let randomness: any Randomness

    private var pages: PageSupply
    /// The bytes that are to be written.
    private var pieces: [Piece] = []

    /// Begins a change.
    ///
    /// - Parameters:
    ///   - pages: The free pages. No other code takes pages before the change is committed or given up.
    ///   - mayGrow: See ``PageSupply``.
    init(
        _ file: Int32, _ path: String, _ version: FileVersion, _ key: OpenFileKey, _ pages: PageMap, mayGrow: Bool,
        bootMark: FileHeader.BootMark, files: any FileSystem, randomness: any Randomness
    ) {
        self.file = file
        self.path = path
        self.key = key
        self.pages = PageSupply(pages, mayGrow: mayGrow)
        self.files = files
        self.randomness = randomness
        self.bootMark = bootMark
        changed = ChangedTree(
            SealedFileReader(file, path, header: version.header, cipher: key.cipher, nodes: key.nodes))
        baseWriteCount = version.base?.writeCount ?? 0
    }

    /// The header that the file will have.
    var header: FileHeader { changed.header }
    private var tree: FileTree { changed.header.tree }
    private var chunkSize: Int { Int(tree.chunkSize) }

    // MARK: The kinds of changes

    /// Writes content. A gap between the former end and the place becomes zeros.
    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DataProtectionError) {
        if bytes.isEmpty { return }
        let end = offset + UInt64(bytes.count)
        if end > header.length { changed.lengthen(to: end) }
        let size = tree.chunkSize
        let chunks = (offset / size)..<((end - 1) / size + 1)
        let sealed = try seal(chunks, bytes, at: offset)
        for (chunk, entry) in zip(chunks, sealed) { try changed.set(entry, at: NodePlace(level: 0, index: chunk)) }
    }

    mutating func truncate(to length: UInt64) throws(DataProtectionError) {
        if length > header.length { return changed.lengthen(to: length) }
        guard length < header.length else { return }
        let shorter = FileTree(length: length, chunkBits: header.chunkBits)
        var last: (chunk: UInt64, entry: FileEntry)?
        if shorter.chunkCount > 0 {
            let chunk = shorter.chunkCount - 1
            let kept = shorter.content(ofChunk: chunk)
            // No more than that may stay stored: a file that grows again has zeros there.
            if let entry = try changed.entry(ofChunk: chunk), UInt64(entry.length) > kept {
                last = (chunk, try sealCut(chunk, to: Int(kept)))
            }
        }
        try changed.remove(shorter.chunkCount..<tree.chunkCount)
        try changed.lowerRoot(to: shorter.depth)
        changed.header.length = length
        if let last { try changed.set(last.entry, at: NodePlace(level: 0, index: last.chunk)) }
    }

    /// Makes content zeros. Chunks that are all zeros take no space any more.
    mutating func punch(_ range: Range<UInt64>) throws(DataProtectionError) {
        let range = range.clamped(to: 0..<header.length)
        if range.isEmpty { return }
        let size = tree.chunkSize
        let first = (range.lowerBound + size - 1) / size
        // A last chunk counts as whole if the range reaches the end of the content.
        let end = range.upperBound == header.length ? tree.chunkCount : range.upperBound / size
        guard first < end else { return try writeZeros(range) }
        try changed.remove(first..<end)
        try writeZeros(range.lowerBound..<min(first * size, range.upperBound))
        try writeZeros(min(end * size, range.upperBound)..<range.upperBound)
    }

    /// Writes zeros to less than two chunks. Holes stay holes.
    private mutating func writeZeros(_ range: Range<UInt64>) throws(DataProtectionError) {
        var start = range.lowerBound
        while start < range.upperBound {
            let chunk = start / tree.chunkSize
            let end = min((chunk + 1) * tree.chunkSize, range.upperBound)
            if try changed.entry(ofChunk: chunk) != nil {
                let zeros = Data(count: Int(end - start))
                let entries = try zeros.withBytes { (zeros) throws(DataProtectionError) in
                    try seal(chunk..<(chunk + 1), zeros, at: start)
                }
                try changed.set(entries[0], at: NodePlace(level: 0, index: chunk))
            }
            start = end
        }
    }

    // MARK: Chunks

    /// Encrypts chunks with new bytes in them, and with their former content around these.
    ///
    /// - Returns: An entry for each chunk.
    private mutating func seal(
        _ chunks: Range<UInt64>, _ bytes: UnsafeRawBufferPointer, at offset: UInt64
    ) throws(DataProtectionError) -> [FileEntry] {
        let parts = try chunks.map { (chunk) throws(DataProtectionError) in try part(chunk, bytes, at: offset) }
        let nodeCount = tree.countOfNodes(above: chunks)
        pages.reserve(parts.reduce(nodeCount) { $0 + $1.count.pageCount }, usedPages: header.usedPages)
        // The nodes come behind the chunks, so that neighbours in the file can be written at once.
        let staging = ContentBuffer.spare(count: chunks.count * chunkSize + nodeCount * FileFormat.nodeByteCount)
        room = Room(
            buffer: staging,
            used: (parts.count - 1) * chunkSize + parts[parts.count - 1].count.pageCount * FileFormat.pageSize)
        var plan: [ChunkTask] = []
        plan.reserveCapacity(parts.count)
        for part in parts { plan.append(try place(part, plan.count, in: staging)) }
        let entries: [FileEntry]
        if plan.count <= Self.chunksAtOnce {
            entries = try plan.map { (task) throws(DataProtectionError) in try task.seal(key.cipher, path) }
            for task in plan { pieces.append(task.piece) }
        } else {
            entries = try sealAndWrite(plan)
        }
        staging.isSecret = false
        return entries
    }

    /// Encrypts many chunks. No header refers to them yet, so one group is written while the next is encrypted.
    private func sealAndWrite(_ plan: [ChunkTask]) throws(DataProtectionError) -> [FileEntry] {
        let (cipher, path, files, file) = (key.cipher, path, files, file)
        nonisolated(unsafe) let plan = plan  // it is only read
        let (made, inOrder) = (Results<FileEntry>(plan.count), InOrder())
        @Sendable func numbers(_ group: Int) -> Range<Int> {
            (group * Self.chunksAtOnce)..<min((group + 1) * Self.chunksAtOnce, plan.count)
        }
        let groups = (plan.count + Self.chunksAtOnce - 1) / Self.chunksAtOnce
        try Parallel.forEach(groups, state: {}) { (group, _) throws(DataProtectionError) in
            for number in numbers(group) { made.set(number, try plan[number].seal(cipher, path)) }
            try inOrder.add(group) { (group) throws(DataProtectionError) in
                try files.write(numbers(group).map { plan[$0].piece }, to: file, path)
            }
        }
        return made.all
    }

    /// The number of chunks of one thread's part. Fewer are encrypted in less time than a thread needs to begin.
    private static let chunksAtOnce = 16

    /// The part of a write that falls into one chunk.
    private struct ChunkPart {
        let chunk: UInt64
        /// The place in the chunk at which the new bytes begin.
        let start: Int
        let new: UnsafeRawBufferPointer
        /// The number of bytes of the chunk that are stored now. Zeros follow them.
        let stored: Int
        /// The number of bytes of the chunk that will be stored.
        var count: Int { max(stored, start + new.count) }
    }

    private func part(
        _ chunk: UInt64, _ bytes: UnsafeRawBufferPointer, at offset: UInt64
    ) throws(DataProtectionError) -> ChunkPart {
        let start = chunk * tree.chunkSize
        let wanted = (offset..<(offset + UInt64(bytes.count))).clamped(to: start..<(start + tree.chunkSize))
        return ChunkPart(
            chunk: chunk, start: Int(wanted.lowerBound - start),
            new: bytes.extracting(Int(wanted.lowerBound - offset)..<Int(wanted.upperBound - offset)),
            stored: try Int(changed.entry(ofChunk: chunk)?.length ?? 0))
    }

    /// One chunk that is to be encrypted.
    private struct ChunkTask {
        let index: UInt64
        var entry: FileEntry
        /// The content. It is in the buffer, or in the caller's memory if the whole chunk is new.
        let plaintext: UnsafeRawBufferPointer
        let ciphertext: UnsafeMutableRawBufferPointer
        let piece: Piece

        func seal(_ cipher: FileCipher, _ path: String) throws(DataProtectionError) -> FileEntry {
            var entry = entry
            try withKeychainErrors(path) { () throws(KeychainError) in
                try cipher.seal(plaintext, level: 0, index: index, entry: &entry, into: ciphertext)
            }
            return entry
        }
    }

    /// Gives a chunk its pages, and puts its former content around the new bytes.
    private mutating func place(
        _ part: ChunkPart, _ number: Int, in staging: ContentBuffer
    ) throws(DataProtectionError) -> ChunkTask {
        let (chunk, count) = (part.chunk, part.count)
        let pages = count.pageCount * FileFormat.pageSize
        let range = (number * chunkSize)..<(number * chunkSize + pages)
        let room = staging.bytes.extracting(range)
        let content = room.extracting(..<count)
        let isAllNew = part.start == 0 && part.new.count == count
        if !isAllNew {
            try readOld(chunk, into: content.extracting(..<part.stored))
            content.zero(part.stored..<count)
            content.extracting(part.start...).copyMemory(from: part.new)
        }
        room.zero(count..<pages)
        let entry = try newEntry(count)
        return ChunkTask(
            index: chunk, entry: entry, plaintext: isAllNew ? part.new : UnsafeRawBufferPointer(content),
            ciphertext: content, piece: Piece(page: entry.page, buffer: staging, range: range))
    }

    /// Reads the former content of a chunk.
    private func readOld(
        _ chunk: UInt64, into target: UnsafeMutableRawBufferPointer
    ) throws(DataProtectionError) {
        if target.isEmpty { return }
        let start = chunk * tree.chunkSize
        try changed.former.read(start..<(start + UInt64(target.count)), into: target)
    }

    /// Encrypts the beginning of a chunk.
    private mutating func sealCut(_ chunk: UInt64, to count: Int) throws(DataProtectionError) -> FileEntry {
        let staging = ContentBuffer.spare(count: chunkSize)
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        let task = try place(ChunkPart(chunk: chunk, start: 0, new: nothing, stored: count), 0, in: staging)
        let entry = try task.seal(key.cipher, path)
        staging.isSecret = false
        pieces.append(task.piece)
        return entry
    }

    /// Makes an entry with pages, a write count and a nonce.
    private mutating func newEntry(_ count: Int) throws(DataProtectionError) -> FileEntry {
        changed.header.writeCount += 1
        changed.header.usedPages += UInt64(count.pageCount)
        return FileEntry(
            page: pages.take(count.pageCount), writeCount: header.writeCount, length: UInt32(count),
            nonce: try nonce())
    }

    /// Nonces for the next parts. They are never kept beyond the change, since a forked process would use them too.
    private var nonces: [InlineBytes<12>] = []

    private mutating func nonce() throws(DataProtectionError) -> InlineBytes<12> {
        // A small write needs one for a chunk, and one for each node above it.
        if nonces.isEmpty { nonces = try randomness.nonces(Int(tree.depth) + 1, path) }
        return nonces.removeLast()
    }

    // MARK: Committing

    /// Writes everything. The header comes last and puts the change into effect.
    ///
    /// - Returns: The file after the change, and its free pages.
    consuming func commit(_ version: FileVersion) throws(DataProtectionError) -> (FileVersion, PageMap) {
        try sealNodes()
        pages.giveBack()
        try files.write(pieces, to: file, path)
        try provideStoredSize()
        changed.header.sequence = version.highestSequence + 1
        changed.header.bootMark = bootMark
        let writer = HeaderWriter(file: file, path: path, fileKey: key.fileKey, files: files)
        let new = try version.writing(header, over: version.nextSlot, writer)
        for (place, node) in changed.nodes {
            // A node above a changed node has changed too.
            let entry = place.level == tree.depth ? header.root : changed.nodes[place.parent]?[place.indexInParent]
            guard let entry else { continue }
            key.nodes.keep(node, at: place, for: entry)
            key.mappedNodes.keep(node, at: place, for: entry)
        }
        for entry in changed.left { pages.free(entry.run, isOfBase: entry.writeCount <= baseWriteCount) }
        return (new, pages.map)
    }

    /// Gives the file the size that its header says, even if the last bytes were not written.
    private mutating func provideStoredSize() throws(DataProtectionError) {
        changed.header.storedSize = pages.map.end * UInt64(FileFormat.pageSize)
        // The file is never cut off here: the base may need more than the present header.
        guard header.storedSize > (try FilePath.size(of: file, path)) else { return }
        guard files.truncate(file, to: Int(header.storedSize)) == 0 else { throw .system("write", path) }
    }

    /// Encrypts the changed nodes from the lowest level up, since each has the tags of the nodes below it.
    private mutating func sealNodes() throws(DataProtectionError) {
        let depth = tree.depth
        if depth == 0 { return }
        if !pages.hasReserved { pages.reserve(max(changed.nodes.count, Int(depth)), usedPages: header.usedPages) }
        for level in 1...depth {
            for place in changed.nodes.keys.filter({ $0.level == level }).sorted(by: { $0.index < $1.index }) {
                try changed.set(try seal(changed.nodes[place]!, place), at: place)
            }
        }
    }

    /// Memory that is handed out piece by piece.
    private struct Room {
        let buffer: ContentBuffer
        var used: Int
    }
    private var room: Room?

    /// Memory for one node.
    private mutating func roomForNode() -> (ContentBuffer, Range<Int>) {
        var present = room ?? Room(buffer: .spare(count: FileFormat.nodeByteCount), used: 0)
        if present.used + FileFormat.nodeByteCount > present.buffer.bytes.count {
            present = Room(buffer: .spare(count: 16 * FileFormat.nodeByteCount), used: 0)
        }
        present.buffer.isSecret = false
        let range = present.used..<(present.used + FileFormat.nodeByteCount)
        present.used = range.upperBound
        room = present
        return (present.buffer, range)
    }

    /// Encrypts a node.
    ///
    /// - Returns: `nil` for a node that has only holes.
    private mutating func seal(
        _ node: FileNode, _ place: NodePlace
    ) throws(DataProtectionError) -> FileEntry? {
        let count = node.storedCount * FileEntry.byteCount
        if count == 0 { return nil }
        var entry = try newEntry(count)
        let (buffer, range) = roomForNode()
        let room = buffer.bytes.extracting(range)
        room.zero(count..<room.count)
        let result = node.withStoredBytes { bytes in
            Result { () throws(KeychainError) in
                try key.cipher.seal(
                    bytes, level: place.level, index: place.index, entry: &entry, into: room.extracting(..<count))
            }
        }
        try withKeychainErrors(path) { () throws(KeychainError) in try result.get() }
        pieces.append(Piece(page: entry.page, buffer: buffer, range: range))
        return entry
    }
}
