internal import KeychainCrypto

extension ProtectedFiles {
    /// The size on the disk of a protected file that is written whole.
    package static func storedSize(ofContent length: UInt64) -> UInt64 {
        let header = UInt64(FileFormat.headerByteCount)
        let length = min(length, FileFormat.mostContent)
        let tree = FileTree(length: length, chunkBits: FileFormat.usualChunkBits)
        // A file of one chunk has no node, and ends with its content.
        guard tree.depth > 0 else { return header + length }
        let nodes = (1...tree.depth).reduce(UInt64(0)) { $0 + tree.count(atLevel: $1) }
        return header + (length.pageCount + nodes) * UInt64(FileFormat.pageSize)
    }
}
