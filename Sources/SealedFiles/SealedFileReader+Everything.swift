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
}
