internal import KeychainCrypto

extension SealedFileReader {
    /// Calls `body` for each chunk and node. Nodes are opened on the way, chunks are not.
    ///
    /// - Parameter writeCount: The write count of another header. Parts that were written up to then are left out.
    func forEachEntry(
        since writeCount: UInt64 = 0, _ body: (FileEntry) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        try walk(since: writeCount) { (entry, _) throws(DataProtectionError) in try body(entry) }
    }

    /// Opens every chunk and node that was written after another header.
    ///
    /// - Parameter writeCount: The write count of that header.
    /// - Throws: `.tampered` or `.truncated` if one of them does not open.
    func openEverything(since writeCount: UInt64) throws(DataProtectionError) {
        let buffer = ContentBuffer.spare(count: Int(header.tree.chunkSize))
        try walk(since: writeCount) { (entry, place) throws(DataProtectionError) in
            if place.level == 0 { try require(entry, place, in: buffer) }
        }
    }

    private func walk(
        since writeCount: UInt64, _ body: (FileEntry, NodePlace) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        try walk(header.root, NodePlace(level: header.tree.depth, index: 0), since: writeCount, body)
    }

    private func walk(
        _ entry: FileEntry?, _ place: NodePlace, since writeCount: UInt64,
        _ body: (FileEntry, NodePlace) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        // A node is written after everything below it.
        guard let entry, entry.writeCount > writeCount else { return }
        try check(entry, place)
        try body(entry, place)
        guard place.level > 0, let node = try node(place) else { return }
        for number in 0..<FileFormat.fanOut {
            try walk(node[number], place.child(number), since: writeCount, body)
        }
    }

    /// The entries in which two trees differ: those that this one has, and those that the other one has.
    struct Difference {
        var new: [FileEntry] = []
        var left: [FileEntry] = []
        /// The nodes among the new entries.
        var nodes: [(NodePlace, FileEntry, FileNode)] = []
    }

    /// Compares this tree with that of another header. Equal entries have equal tags, and stand for all below them.
    ///
    /// - Parameter known: The nodes of the other tree.
    /// - Returns: `nil` if one of these is missing.
    func difference(from other: FileHeader, _ known: NodeCache) throws(DataProtectionError) -> Difference? {
        guard other.tree.depth == header.tree.depth else { return nil }
        var found = Difference()
        let root = NodePlace(level: header.tree.depth, index: 0)
        return try compare(other.root, header.root, root, known, &found) ? found : nil
    }

    private func compare(
        _ old: FileEntry?, _ new: FileEntry?, _ place: NodePlace, _ known: NodeCache, _ found: inout Difference
    ) throws(DataProtectionError) -> Bool {
        if old == new { return true }
        if let old { found.left.append(old) }
        if let new {
            try check(new, place)
            found.new.append(new)
        }
        if place.level == 0 { return true }
        let (before, after) = (old.flatMap { known.node(at: place, for: $0) }, try node(place))
        if old != nil && before == nil { return false }
        if let new, let after { found.nodes.append((place, new, after)) }
        for number in (after ?? FileNode()).changes(from: before ?? FileNode()) {
            let isKnown = try compare(before?[number], after?[number], place.child(number), known, &found)
            if !isKnown { return false }
        }
        return true
    }
}
