internal import FoundationEssentials
internal import Glibc
package import KeychainCrypto

/// A function that gets the content of a file in its order, for a salvage.
package typealias ContentSink = (UnsafeRawBufferPointer) throws(DataProtectionError) -> Void

/// Something that a check has noted.
package struct Flaw: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// A chunk, or a node above this content, does not open.
        case lost(PartFlaw, isNode: Bool)
        /// As `lost` with ``PartFlaw/changed``: all its bytes are zeros.
        case zeros(isNode: Bool)
        /// The entry for this content has bytes that are not defined.
        case entry
        /// The node above this content has a form that no program writes. It was read anyway.
        case nodeForm
        /// A node has entries for content beyond the length.
        case beyondLength
        /// The place of another part is also this one's.
        case place
    }

    package let kind: Kind
    package var content: Range<UInt64>?

    package var losesContent: Bool {
        switch kind {
        case .lost, .zeros, .entry: true
        case .nodeForm, .beyondLength, .place: false
        }
    }
}

/// Opens everything that one header of a file refers to, and notes the parts that do not open.
///
/// It is the reader's other policy: a reader refuses a file at the first flaw. Below a node that does not open, all is
/// lost: only that node says where its children lie and has their nonces and tags.
package final class SealedFileCheck {
    private let reader: SealedFileReader
    package var header: FileHeader { reader.header }
    private var tree: FileTree { reader.header.tree }

    /// The flaws in the order of the content. Neighbours that are alike are joined.
    package private(set) var flaws: [Flaw] = []
    private var claimed = PageSet()
    /// The number of pages of the parts that have opened.
    package private(set) var usedPages: UInt64 = 0
    /// The highest write count among the entries whose chunk or node does not open. It is 0 if all open. A part that the
    /// disk does not read does not count, and one of unknown age counts as new.
    package private(set) var newestLost: UInt64 = 0

    /// A function that is called now and then with the number of content bytes that are done.
    package typealias Pause = (UInt64) throws(DataProtectionError) -> Void

    /// Checks a file.
    ///
    /// - Parameter sink: The receiver of all content in its order, with zeros for the parts that do not open. Without
    ///   one the check uses all processors.
    package init(_ reader: SealedFileReader, _ sink: ContentSink?, pause: Pause) throws(DataProtectionError) {
        self.reader = reader
        guard header.length > 0 else { return }
        try visit(header.root, NodePlace(level: tree.depth, index: 0), sink, pause)
    }

    /// The number of content bytes that can be read.
    package var readable: UInt64 {
        flaws.filter(\.losesContent).compactMap(\.content).reduce(header.length) { $0 - UInt64($1.count) }
    }

    // MARK: Down the tree

    private func visit(
        _ entry: FileEntry?, _ place: NodePlace, _ sink: ContentSink?, _ pause: Pause
    ) throws(DataProtectionError) {
        let content = tree.content(below: place)
        var found = CheckedPart()
        if place.level <= 1 {
            try reader.check(entry, place, in: reader.makeBuffer(), &found, sink)
            note(found)
        } else if let entry, let node = try reader.checkNode(entry, place, in: reader.makeBuffer(), &found) {
            note(found)
            let children = tree.children(of: place)
            if place.level == 2 && sink == nil {
                try visitAtOnce(children.map { ($0, node[$0.indexInParent]) }, pause)
            } else {
                for child in children { try visit(node[child.indexInParent], child, sink, pause) }
            }
        } else {
            note(found)
            try give(zeros: content, to: sink, pause)
        }
        try pause(content.upperBound)
    }

    /// The number of groups that are checked between two reports of progress.
    private static let groupsAtOnce = 16

    /// Checks the groups below nodes of the lowest level, on all processors.
    private func visitAtOnce(
        _ groups: [(place: NodePlace, entry: FileEntry?)], _ pause: Pause
    ) throws(DataProtectionError) {
        for start in stride(from: 0, to: groups.count, by: Self.groupsAtOnce) {
            let some = Array(groups[start...].prefix(Self.groupsAtOnce))
            let reader = reader
            let results = try Parallel.map(some.count, state: { reader.makeBuffer() }) {
                (number, buffer) throws(DataProtectionError) in
                var found = CheckedPart()
                try reader.check(some[number].entry, some[number].place, in: buffer, &found, nil)
                return found
            }
            for found in results { note(found) }
            if let last = some.last { try pause(tree.content(below: last.place).upperBound) }
        }
    }

    private func give(
        zeros content: Range<UInt64>, to sink: ContentSink?, _ pause: Pause
    ) throws(DataProtectionError) {
        guard let sink else { return }
        let buffer = ContentBuffer(count: Int(min(UInt64(content.count), 1 << 20)))
        buffer.bytes.zero(0..<buffer.bytes.count)
        var rest = UInt64(content.count)
        while rest > 0 {
            let part = min(rest, UInt64(buffer.bytes.count))
            try sink(UnsafeRawBufferPointer(buffer.bytes.extracting(..<Int(part))))
            rest -= part
            try pause(content.upperBound - rest)
        }
    }

    private func note(_ found: CheckedPart) {
        for flaw in found.flaws { note(flaw) }
        newestLost = max(newestLost, found.newestLost)
        for (entry, content) in found.opened {
            let isFree = claimed.isFree(entry.run)
            if isFree { usedPages += UInt64(entry.run.count) }
            claimed.insert(entry.run)
            if !isFree { note(Flaw(kind: .place, content: content)) }
        }
    }

    private func note(_ flaw: Flaw) {
        if let last = flaws.last, last.kind == flaw.kind, let former = last.content, let present = flaw.content,
            former.upperBound == present.lowerBound
        {
            flaws[flaws.endIndex - 1].content = former.lowerBound..<present.upperBound
        } else {
            flaws.append(flaw)
        }
    }
}

/// The result of checking one part of a file.
private struct CheckedPart: Sendable {
    var flaws: [Flaw] = []
    /// The entries of the chunks and nodes that have opened, with the content they are for.
    var opened: [(entry: FileEntry, content: Range<UInt64>)] = []
    var newestLost: UInt64 = 0
}

extension SealedFileReader {
    /// Makes a buffer for one chunk or one node.
    fileprivate func makeBuffer() -> ContentBuffer {
        ContentBuffer(count: max(Int(header.tree.chunkSize), FileFormat.nodeByteCount))
    }

    /// Checks a chunk, or a node of the lowest level with its chunks. It may run in several threads at once.
    ///
    /// - Parameters:
    ///   - entry: The entry. `nil` stands for a hole.
    ///   - buffer: A buffer from ``makeBuffer()``.
    fileprivate func check(
        _ entry: FileEntry?, _ place: NodePlace, in buffer: ContentBuffer, _ found: inout CheckedPart,
        _ sink: ContentSink?
    ) throws(DataProtectionError) {
        if place.level > 0 {
            var node: FileNode?
            if let entry { node = try checkNode(entry, place, in: buffer, &found) }
            // All content below a missing or broken node is zeros.
            for child in header.tree.children(of: place) {
                try check(node?[child.indexInParent], child, in: buffer, &found, sink)
            }
            return
        }
        let opens = if let entry { try checkPart(entry, place, in: buffer, &found) } else { false }
        guard let sink else { return }
        let content = header.tree.content(below: place)
        buffer.bytes.zero((opens ? Int(entry!.length) : 0)..<content.count)
        try sink(UnsafeRawBufferPointer(buffer.bytes.extracting(..<content.count)))
    }

    /// Opens a node.
    ///
    /// - Returns: `nil` if it does not open, which is noted.
    fileprivate func checkNode(
        _ entry: FileEntry, _ place: NodePlace, in buffer: ContentBuffer, _ found: inout CheckedPart
    ) throws(DataProtectionError) -> FileNode? {
        guard try checkPart(entry, place, in: buffer, &found) else { return nil }
        let (node, malformed) = FileNode.decode(UnsafeRawBufferPointer(buffer.bytes.extracting(..<Int(entry.length))))
        let content = header.tree.content(below: place)
        let children = header.tree.children(of: place)
        let last = max(node.storedCount, (malformed.last ?? -1) + 1)
        if !malformed.isEmpty || last * FileEntry.byteCount != Int(entry.length) {
            found.flaws.append(Flaw(kind: .nodeForm, content: content))
        }
        if last > children.count { found.flaws.append(Flaw(kind: .beyondLength, content: nil)) }
        for number in malformed where number < children.count {
            found.flaws.append(Flaw(kind: .entry, content: header.tree.content(below: children[number])))
            found.newestLost = .max
        }
        return node
    }

    /// Opens a chunk or a node.
    ///
    /// - Returns: false if it does not open, which is noted.
    private func checkPart(
        _ entry: FileEntry, _ place: NodePlace, in buffer: ContentBuffer, _ found: inout CheckedPart
    ) throws(DataProtectionError) -> Bool {
        let content = header.tree.content(below: place)
        guard let flaw = try open(entry, place, into: buffer.bytes) else {
            found.opened.append((entry, content))
            return true
        }
        let isNode = place.level > 0
        var kind = Flaw.Kind.lost(flaw, isNode: isNode)
        if flaw == .changed, try isZero(entry, in: buffer) { kind = .zeros(isNode: isNode) }
        found.flaws.append(Flaw(kind: kind, content: content))
        if case .unreadable = flaw { return false }
        found.newestLost = max(found.newestLost, entry.writeCount)
        return false
    }
}
