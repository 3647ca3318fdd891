internal import FoundationEssentials
package import KeychainCrypto
package import KeychainModel
package import KeychainSystem

/// Writes a protected file from its beginning to its end (docs/file-format.md, "Writing a whole file").
///
/// Content is encrypted in groups of 64 chunks on all processors, each group with the node above it. The place of a
/// group follows from its number.
package final class SealedFileWriter: @unchecked Sendable {  // its threads share only constants
    private let file: Int32
    private let path: String
    private let files: any FileSystem
    private let randomness: any Randomness
    private let key: WrappedFileKey
    package var fileClass: FileClass { key.fileClass }
    private let fileKey: KeyMaterial
    private let cipher: FileCipher
    private let chunkBits: UInt8

    private var nextPage: UInt64 = 1
    private var writeCount: UInt64 = 0
    private var length: UInt64 = 0
    private var storedSize = UInt64(FileFormat.headerByteCount)
    /// The number of pages in use. There are no gaps between the parts.
    private var usedPages: UInt64 { storedSize.pageCount - 1 }
    /// The entries that have no node above them yet, by their level, which begins with that of the chunks.
    private var waiting: [[FileEntry]] = []
    /// Content that has come and is not encrypted yet. `nil` means that there is none.
    private var pending: (buffer: ContentBuffer, count: Int)?

    /// Prepares writing.
    ///
    /// - Parameters:
    ///   - file: The file, open for writing and empty.
    ///   - path: The path for errors.
    package init(
        _ file: Int32, _ path: String, key: FileKey, chunkBits: UInt8 = FileFormat.usualChunkBits,
        files: any FileSystem, randomness: any Randomness
    ) throws(DataProtectionError) {
        self.file = file
        self.path = path
        self.files = files
        self.randomness = randomness
        self.key = key.wrapped
        self.chunkBits = chunkBits
        fileKey = try KeyMaterial(key.key, path)
        cipher = FileCipher(fileKey: fileKey, fileID: key.wrapped.fileID)
    }

    private var chunkSize: Int { 1 << Int(chunkBits) }
    private var groupSize: Int { chunkSize * FileFormat.fanOut }
    /// The number of bytes that are collected before they are encrypted: enough groups to keep the processors busy.
    private var pendingCapacity: Int { groupSize * max(1, min(4, (4 << 20) / groupSize)) }
    private var pagesPerChunk: UInt64 { UInt64(chunkSize / FileFormat.pageSize) }

    // MARK: Content

    /// Adds content. It may be called several times.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(DataProtectionError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let taken = try withPending { buffer, count in
                let part = rest.prefix(buffer.count - count)
                buffer.extracting(count...).copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
                return part.count
            }
            rest = rest.dropFirst(taken)
        }
    }

    /// Adds content that `fill` puts into the memory it is given.
    ///
    /// - Parameter fill: Returns the number of bytes, and 0 at the end.
    /// - Returns: The number that `fill` returned.
    package func append(
        filling fill: (UnsafeMutableRawBufferPointer) throws(DataProtectionError) -> Int
    ) throws(DataProtectionError) -> Int {
        try withPending { buffer, count throws(DataProtectionError) in
            try fill(buffer.extracting(count...))
        }
    }

    /// Collects content.
    ///
    /// - Parameter add: Returns the number of bytes that it has put behind the first ones.
    private func withPending(
        _ add: (_ buffer: UnsafeMutableRawBufferPointer, _ count: Int) throws(DataProtectionError) -> Int
    ) throws(DataProtectionError) -> Int {
        var (buffer, count) = pending ?? (ContentBuffer(count: pendingCapacity), 0)
        // A full buffer is encrypted only when more content comes: the last group may be one without a node.
        if count == buffer.bytes.count {
            // The full buffer is kept until a byte has come that goes behind it.
            let next = ContentBuffer(count: pendingCapacity)
            let added = try add(next.bytes, 0)
            guard added > 0 else { return 0 }
            try seal(UnsafeRawBufferPointer(buffer.bytes))
            pending = (next, added)
            return added
        }
        let added = try add(buffer.bytes, count)
        count += added
        pending = (buffer, count)
        return added
    }

    /// Writes the last content, the nodes and the header.
    ///
    /// - Parameter bytes: The content behind everything that was added before. A file that is written at once comes
    ///   here whole.
    package func finish(
        _ bytes: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) throws(DataProtectionError) {
        guard pending != nil else { return try sealLast(bytes) }
        try append(bytes)
        if let (buffer, count) = pending.take() {
            try sealLast(UnsafeRawBufferPointer(buffer.bytes.extracting(..<count)))
        }
    }

    private func sealLast(_ bytes: UnsafeRawBufferPointer) throws(DataProtectionError) {
        if length == 0 && bytes.count <= chunkSize { return try finishSmall(bytes) }
        try seal(bytes)
        try write(firstPage(root: try root()), at: 0)
    }

    /// Writes a file of at most one chunk in one write.
    private func finishSmall(_ bytes: UnsafeRawBufferPointer) throws(DataProtectionError) {
        length = UInt64(bytes.count)
        guard !bytes.isEmpty else { return try write(firstPage(root: nil), at: 0) }
        var image = Data(count: FileFormat.headerByteCount + bytes.count)
        let nonces = try nonces(1)
        writeCount = 1
        var entry = FileEntry(page: 1, writeCount: 1, length: UInt32(bytes.count), nonce: nonces[0])
        try image.withMutableBytes { (image) throws(DataProtectionError) in
            try withKeychainErrors(path) { () throws(KeychainError) in
                try cipher.seal(
                    bytes, level: 0, index: 0, entry: &entry, into: image.extracting(FileFormat.headerByteCount...))
            }
        }
        storedSize = UInt64(image.count)
        image.replaceSubrange(..<FileFormat.headerByteCount, with: firstPage(root: entry))
        try write(image, at: 0)
    }

    // MARK: Groups

    /// The content of one group, with the numbers that it is given before it is encrypted.
    private struct Group {
        let content: UnsafeRawBufferPointer
        let index: UInt64
        let page: UInt64
        let writeCount: UInt64
        let nonces: [InlineBytes<12>]

        var chunkCount: Int { nonces.count - 1 }
        /// The number of pages of the chunks. The node follows on the next page.
        var pageCount: Int { content.count.pageCount }
        var nodeByteCount: Int { chunkCount * FileEntry.byteCount }
    }

    /// Encrypts groups. All of them but the last are full.
    private func seal(_ bytes: UnsafeRawBufferPointer) throws(DataProtectionError) {
        var groups: [Group] = []
        for start in stride(from: 0, to: bytes.count, by: groupSize) {
            groups.append(try nextGroup(bytes.extracting(start..<min(start + groupSize, bytes.count))))
        }
        if groups.isEmpty { return }
        let groupSize = groupSize
        nonisolated(unsafe) let plan = groups  // it is only read
        let made = try Parallel.map(
            groups.count, state: { ContentBuffer(count: groupSize + FileFormat.nodeByteCount) }
        ) { (number, buffer) throws(DataProtectionError) in
            try self.seal(plan[number], in: buffer.bytes)
        }
        for entry in made { try add(entry, level: 1) }
    }

    /// Gives a group the next place in the file.
    private func nextGroup(_ content: UnsafeRawBufferPointer) throws(DataProtectionError) -> Group {
        let chunkCount = (content.count + chunkSize - 1) / chunkSize
        let first = firstWriteCount(UInt64(chunkCount + 1))
        let group = Group(
            content: content, index: length / UInt64(groupSize), page: nextPage, writeCount: first,
            nonces: try nonces(chunkCount + 1))
        nextPage += UInt64(group.pageCount) + 1
        writeCount = first + UInt64(chunkCount)
        length += UInt64(content.count)
        storedSize = (nextPage - 1) * UInt64(FileFormat.pageSize) + UInt64(group.nodeByteCount)
        return group
    }

    /// The next numbers in a row that belong to one content key.
    private func firstWriteCount(_ count: UInt64) -> UInt64 {
        let first = writeCount + 1
        let last = first + count - 1
        return first >> FileFormat.epochBits == last >> FileFormat.epochBits
            ? first : (last >> FileFormat.epochBits) << FileFormat.epochBits
    }

    /// Encrypts the chunks of a group and the node above them, and writes them at once.
    private func seal(
        _ group: Group, in buffer: UnsafeMutableRawBufferPointer
    ) throws(DataProtectionError) -> FileEntry {
        let (content, chunkCount) = (group.content, group.chunkCount)
        let nodeOffset = group.pageCount * FileFormat.pageSize
        let end = nodeOffset + group.nodeByteCount
        // The bytes between the last chunk and the node are zeros.
        buffer.zero(content.count..<nodeOffset)
        let node = buffer.extracting(nodeOffset..<end)
        var nodeEntry = FileEntry(
            page: group.page + UInt64(group.pageCount), writeCount: group.writeCount + UInt64(chunkCount),
            length: UInt32(node.count), nonce: group.nonces[chunkCount])
        let result = cipher.withContentKey(for: group.writeCount) { cipher in
            Result { () throws(KeychainError) in
                for number in 0..<chunkCount {
                    let range = (number * chunkSize)..<min((number + 1) * chunkSize, content.count)
                    var entry = FileEntry(
                        page: group.page + UInt64(number) * pagesPerChunk,
                        writeCount: group.writeCount + UInt64(number),
                        length: UInt32(range.count), nonce: group.nonces[number])
                    try cipher.seal(
                        content.extracting(range), level: 0,
                        index: group.index * UInt64(FileFormat.fanOut) + UInt64(number), entry: &entry,
                        into: buffer.extracting(range))
                    entry.encode(into: node.extracting(FileNode.place(number)))
                }
                try cipher.seal(
                    UnsafeRawBufferPointer(node), level: 1, index: group.index, entry: &nodeEntry, into: node)
            }
        }
        if case .failure(let error) = result { throw DataProtectionError(error, path) }
        try write(UnsafeRawBufferPointer(buffer.extracting(..<end)), at: group.page * UInt64(FileFormat.pageSize))
        return nodeEntry
    }

    // MARK: Nodes

    /// Adds an entry to the entries that wait for the node above them. The node is encrypted when it is full and one
    /// more comes.
    private func add(_ entry: FileEntry, level: Int) throws(DataProtectionError) {
        while waiting.count <= level { waiting.append([]) }
        if waiting[level].count == FileFormat.fanOut { try sealNode(above: level) }
        waiting[level].append(entry)
    }

    /// The number of nodes at each level.
    private var nodeCounts: [Int: UInt64] = [:]

    private func sealNode(above level: Int) throws(DataProtectionError) {
        let children = waiting[level]
        waiting[level] = []
        let nonce = try nonces(1)[0]
        writeCount = firstWriteCount(1)
        let index = nodeCounts[level + 1, default: 0]
        nodeCounts[level + 1] = index + 1
        var bytes = Data(count: children.count * FileEntry.byteCount)
        var entry = FileEntry(page: nextPage, writeCount: writeCount, length: UInt32(bytes.count), nonce: nonce)
        try bytes.withMutableBytes { (bytes) throws(DataProtectionError) in
            for (number, child) in children.enumerated() {
                child.encode(into: bytes.extracting(FileNode.place(number)))
            }
            try withKeychainErrors(path) { () throws(KeychainError) in
                try cipher.seal(
                    UnsafeRawBufferPointer(bytes), level: UInt8(level + 1), index: index, entry: &entry, into: bytes)
            }
        }
        try write(bytes, at: entry.offset)
        storedSize = entry.offset + UInt64(bytes.count)
        nextPage += 1
        try add(entry, level: level + 1)
    }

    /// Encrypts the nodes that are not full, and returns the entry of the only node at the highest level.
    private func root() throws(DataProtectionError) -> FileEntry? {
        var level = 1
        while level < waiting.count {
            let isHighest = level == waiting.count - 1
            if isHighest && waiting[level].count == 1 { return waiting[level][0] }
            if !waiting[level].isEmpty { try sealNode(above: level) }
            level += 1
        }
        return nil
    }

    // MARK: Parts

    private func firstPage(root: FileEntry?) -> Data {
        HeaderWriter.page(
            FileHeader(
                key: key, chunkBits: chunkBits, length: length, storedSize: storedSize, writeCount: writeCount,
                root: root, usedPages: usedPages), fileKey)
    }

    private func nonces(_ count: Int) throws(DataProtectionError) -> [InlineBytes<12>] {
        try randomness.nonces(count, path)
    }

    private func write(_ data: Data, at offset: UInt64) throws(DataProtectionError) {
        try data.withBytes { (bytes) throws(DataProtectionError) in try write(bytes, at: offset) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DataProtectionError) {
        try files.writeAll(bytes, to: file, at: offset, path)
    }
}
