internal import KeychainCrypto

/// The tree of a file as a change makes it: the header that the file will have, and the nodes that differ.
struct ChangedTree {
    /// The header that the file will have.
    var header: FileHeader
    /// The file before the change.
    let former: SealedFileReader
    /// The nodes that have changed.
    var nodes: [NodePlace: FileNode] = [:]
    /// The entries that the change does not need any more. Their pages are not written as long as the former header
    /// counts.
    private(set) var left: [FileEntry] = []

    init(_ former: SealedFileReader) {
        self.former = former
        header = former.header
    }

    private var tree: FileTree { header.tree }

    func node(_ place: NodePlace) throws(DataProtectionError) -> FileNode? {
        if let node = nodes[place] { return node }
        return try former.node(place)
    }

    /// The entry of a chunk that the change has not touched.
    func entry(ofChunk index: UInt64) throws(DataProtectionError) -> FileEntry? {
        let place = NodePlace(level: 0, index: index)
        let entry = tree.depth == 0 ? header.root : try node(place.parent)?[place.indexInParent]
        if let entry { try former.check(entry, place) }
        return entry
    }

    /// Puts an entry for a chunk or a node into the node above, or makes it the root.
    mutating func set(_ entry: FileEntry?, at place: NodePlace) throws(DataProtectionError) {
        if place.level == tree.depth {
            leave(header.root)
            header.root = entry
            return
        }
        let parent = place.parent
        if nodes[parent] == nil { nodes[parent] = try former.node(parent) ?? FileNode() }
        leave(nodes[parent]![place.indexInParent])
        nodes[parent]![place.indexInParent] = entry
    }

    mutating func leave(_ entry: FileEntry?) {
        guard let entry else { return }
        header.usedPages -= min(header.usedPages, UInt64(entry.run.count))
        left.append(entry)
    }

    /// Adds holes at the end. The former tree becomes the first part of the new one.
    mutating func lengthen(to length: UInt64) {
        let depth = tree.depth
        header.length = length
        guard let root = header.root, tree.depth > depth else { return }
        var above = FileNode()
        above[0] = root
        nodes[NodePlace(level: depth + 1, index: 0)] = above
        header.root = nil
    }

    /// Makes chunks holes.
    mutating func remove(_ chunks: Range<UInt64>) throws(DataProtectionError) {
        if chunks.isEmpty { return }
        if tree.depth == 0 { return try set(nil, at: NodePlace(level: 0, index: 0)) }
        // No chunk follows the last one, and a node whose chunks are all removed has to go as a whole.
        let end = chunks.upperBound == tree.chunkCount ? .max : chunks.upperBound
        try remove(chunks.lowerBound..<end, below: NodePlace(level: tree.depth, index: 0))
    }

    private mutating func remove(
        _ chunks: Range<UInt64>, below place: NodePlace
    ) throws(DataProtectionError) {
        guard var node = try node(place) else { return }
        let covered = UInt64(1) << (6 * UInt64(place.level - 1))
        for number in 0..<FileFormat.fanOut {
            guard let entry = node[number] else { continue }
            let child = place.child(number)
            let part = (child.index * covered)..<((child.index + 1) * covered)
            guard part.overlaps(chunks) else { continue }
            if place.level > 1 { try remove(chunks, below: child) }
            guard part.clamped(to: chunks) == part else { continue }
            nodes[child] = nil
            leave(entry)
            node[number] = nil
        }
        nodes[place] = node
    }

    /// Makes the first node of a lower level the root.
    mutating func lowerRoot(to depth: UInt8) throws(DataProtectionError) {
        var level = tree.depth
        while level > depth, header.root != nil {
            let place = NodePlace(level: level, index: 0)
            let below = try node(place)?[0]
            leave(header.root)
            nodes[place] = nil
            header.root = below
            level -= 1
        }
    }
}
