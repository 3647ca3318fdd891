internal import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel

/// A function that gets the content of a file in its order, for a salvage.
typealias ContentSink = (UnsafeRawBufferPointer) throws(DataProtectionError) -> Void

/// The result of checking one part of a file.
struct CheckedPart: Sendable {
    var flaws: [Flaw] = []
    /// The entries of the chunks and nodes that have opened, with the content they are for.
    var opened: [(entry: FileEntry, content: Range<UInt64>)] = []
    /// The highest write count among the entries whose chunk or node does not open.
    var newestLost: UInt64 = 0
}

/// Opens single chunks and nodes of a file that may be damaged, in several threads at once.
struct SealedFilePart: Sendable {
    private let file: Int32
    private let path: String
    private let size: UInt64
    private let header: FileHeader
    private let cipher: FileCipher
    private let tree: FileTree

    /// Prepares the checks of a file.
    ///
    /// - Parameter size: The size that the file really has.
    init(_ file: Int32, _ path: String, size: UInt64, header: FileHeader, fileKey: KeyMaterial) {
        self.file = file
        self.path = path
        self.size = size
        self.header = header
        cipher = FileCipher(fileKey: fileKey, fileID: header.key.fileID)
        tree = header.tree
    }

    /// Makes a buffer for one chunk or one node.
    func makeBuffer() -> ContentBuffer { ContentBuffer(count: max(Int(tree.chunkSize), FileFormat.nodeByteCount)) }

    // MARK: Parts

    /// Checks a chunk, or a node of the lowest level with its chunks.
    ///
    /// - Parameters:
    ///   - entry: The entry. `nil` stands for a hole.
    ///   - buffer: A buffer from ``makeBuffer()``.
    ///   - sink: The receiver of all content in its order, with zeros for the parts that do not open.
    func check(
        _ entry: FileEntry?, _ place: NodePlace, in buffer: ContentBuffer, _ sink: ContentSink?
    ) throws(DataProtectionError) -> CheckedPart {
        var found = CheckedPart()
        guard place.level > 0 else {
            try checkChunk(entry, place, in: buffer, &found, sink)
            return found
        }
        let node = try entry.map { entry throws(DataProtectionError) in
            try openNode(entry, place, in: buffer, &found)
        }
        // All content below a missing or broken node is zeros.
        for child in tree.children(of: place) {
            try checkChunk(node??[child], child, in: buffer, &found, sink)
        }
        return found
    }

    private func checkChunk(
        _ entry: FileEntry?, _ place: NodePlace, in buffer: ContentBuffer, _ found: inout CheckedPart,
        _ sink: ContentSink?
    ) throws(DataProtectionError) {
        let content = tree.content(below: place)
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<content.count])
        var count = 0
        if let entry, try open(entry, place, content, in: bytes, &found) { count = Int(entry.length) }
        guard let sink else { return }
        UnsafeMutableRawBufferPointer(rebasing: bytes[count...]).initializeMemory(as: UInt8.self, repeating: 0)
        try sink(UnsafeRawBufferPointer(bytes))
    }

    /// Opens a node.
    ///
    /// - Returns: `nil` if it does not open, which is noted.
    func openNode(
        _ entry: FileEntry, _ place: NodePlace, in buffer: ContentBuffer, _ found: inout CheckedPart
    ) throws(DataProtectionError) -> CheckedNode? {
        let content = tree.content(below: place)
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<FileFormat.nodeByteCount])
        guard try open(entry, place, content, in: bytes, &found) else { return nil }
        let node = CheckedNode(UnsafeRawBufferPointer(rebasing: bytes[..<Int(entry.length)]))
        if !node.isWellFormed {
            found.flaws.append(
                Flaw(.nodeForm, content, losesContent: false, "a table of them has a form that no program writes"))
        }
        let children = tree.children(of: place)
        if node.lastEntry >= children.count {
            found.flaws.append(
                Flaw(.beyondLength, nil, losesContent: false, "a table refers to content beyond the file's length"))
        }
        for (number, child) in children.enumerated() where node.isMalformed(number) {
            lose(.entry, tree.content(below: child), "where they lie is written in a way that is not defined", &found)
        }
        return node
    }

    // MARK: One chunk or node

    /// Opens a chunk or a node.
    ///
    /// - Returns: false if it does not open, which is noted.
    private func open(
        _ entry: FileEntry, _ place: NodePlace, _ content: Range<UInt64>, in buffer: UnsafeMutableRawBufferPointer,
        _ found: inout CheckedPart
    ) throws(DataProtectionError) -> Bool {
        do throws(FileFormatError) {
            try tree.check(
                entry, level: place.level, index: place.index, storedSize: header.storedSize,
                writeCount: header.writeCount)
        } catch {
            lose(.entry, content, "where they lie contradicts the header", &found, entry)
            return false
        }
        let kind: ProtectedFileCheck.Finding.Kind = place.level == 0 ? .chunk : .node
        let what = place.level == 0 ? "they were" : "the table that says where they lie was"
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(entry.length)])
        let (count, failure) = try read(bytes, from: entry.offset)
        if failure != 0 {
            let reason = "the disk does not read \(place.level == 0 ? "them" : "the table that says where they lie")"
            // A block that the disk cannot read is no sign of a crash, so it is no reason to use the other header.
            // Readers refuse it too.
            found.flaws.append(
                Flaw(kind, content, losesContent: true, "\(reason): \(String(cString: strerror(failure)))"))
            return false
        }
        guard count == bytes.count else {
            let reason = place.level == 0 ? "they are" : "the table that says where they lie is"
            lose(kind, content, "\(reason) beyond the end of the file, which is missing", &found, entry)
            return false
        }
        let isEmpty = bytes.allSatisfy { $0 == 0 }
        let isOpen = cipher.open(
            UnsafeRawBufferPointer(bytes), level: place.level, index: place.index, entry: entry, into: bytes)
        guard isOpen else {
            let reason = isEmpty ? "overwritten by zeros" : "changed by something without the key, or damaged"
            lose(kind, content, "\(what) \(reason)", &found, entry)
            return false
        }
        found.opened.append((entry, content))
        return true
    }

    private func lose(
        _ kind: ProtectedFileCheck.Finding.Kind, _ content: Range<UInt64>, _ reason: String,
        _ found: inout CheckedPart, _ entry: FileEntry? = nil
    ) {
        found.flaws.append(Flaw(kind, content, losesContent: true, reason))
        // A lost part of unknown age counts as new.
        found.newestLost = max(found.newestLost, entry?.writeCount ?? .max)
    }

    /// The errors with which a failing disk refuses to read a block.
    private static let failures = [EIO, ENODATA, EBADMSG, EILSEQ, EUCLEAN, EREMOTEIO]

    /// Reads from the file.
    ///
    /// - Returns: The number of bytes, and the error with which the disk refused, or 0.
    private func read(
        _ target: UnsafeMutableRawBufferPointer, from offset: UInt64
    ) throws(DataProtectionError) -> (count: Int, failure: Int32) {
        guard offset < size else { return (0, 0) }
        do throws(DataProtectionError) {
            return (try target.fill(from: file, at: offset, path), 0)
        } catch {
            guard let failure = error.errno, Self.failures.contains(failure) else { throw error }
            return (0, failure)
        }
    }
}

/// The entries of a node, each of which may be well formed or not.
struct CheckedNode {
    private enum Slot {
        case hole
        case entry(FileEntry)
        case malformed
    }

    private let slots: [Slot]

    /// Decodes a node.
    ///
    /// - Parameter bytes: The stored bytes, a multiple of 64.
    init(_ bytes: UnsafeRawBufferPointer) {
        slots = stride(from: 0, to: bytes.count, by: FileEntry.byteCount).map { start in
            do throws(FileFormatError) {
                let bytes = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + FileEntry.byteCount)])
                return try FileEntry.decode(bytes).map(Slot.entry) ?? .hole
            } catch {
                return .malformed
            }
        }
    }

    /// Whether readers accept the node: all its entries are well formed, and the last one is no hole.
    var isWellFormed: Bool {
        if case .hole? = slots.last { return false }
        return !slots.contains { if case .malformed = $0 { true } else { false } }
    }

    /// The number of the last entry that is no hole, or −1.
    var lastEntry: Int { slots.lastIndex { if case .hole = $0 { false } else { true } } ?? -1 }

    func isMalformed(_ number: Int) -> Bool {
        if number < slots.count, case .malformed = slots[number] { true } else { false }
    }

    /// The entry for a place. `nil` stands for a hole and for a malformed entry.
    subscript(place: NodePlace) -> FileEntry? {
        let number = Int(place.index % UInt64(FileFormat.fanOut))
        guard number < slots.count, case .entry(let entry) = slots[number] else { return nil }
        return entry
    }
}
