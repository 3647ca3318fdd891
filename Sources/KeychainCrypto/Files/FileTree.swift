/// The shape of a protected file's tree, which follows from its length and the size of its chunks.
package struct FileTree: Sendable, Hashable {
    package let length: UInt64
    package let chunkSize: UInt64

    /// - Parameters:
    ///   - length: The length of the content, at most ``FileFormat/mostContent``.
    ///   - chunkBits: log2 of the chunk size.
    package init(length: UInt64, chunkBits: UInt8) {
        self.length = length
        chunkSize = 1 << UInt64(chunkBits)
    }

    package var chunkCount: UInt64 { (length + chunkSize - 1) / chunkSize }

    /// The level of the root: 0 if it is a chunk, or if there is no content.
    package var depth: UInt8 {
        var depth: UInt8 = 0
        var covered: UInt64 = 1
        while covered < chunkCount {
            covered *= UInt64(FileFormat.fanOut)
            depth += 1
        }
        return depth
    }

    /// How many bytes of content a chunk has.
    package func content(ofChunk index: UInt64) -> UInt64 { min(chunkSize, length - index * chunkSize) }

    /// How many chunks or nodes a level has.
    package func count(atLevel level: UInt8) -> UInt64 {
        var count = chunkCount
        for _ in 0..<level { count = (count + UInt64(FileFormat.fanOut) - 1) / UInt64(FileFormat.fanOut) }
        return count
    }

    /// Checks an entry that was authenticated: its writer had the key, and may have been wrong or have meant harm.
    ///
    /// - Parameter storedSize: The size of the whole file, as its header says.
    package func check(
        _ entry: FileEntry, level: UInt8, index: UInt64, storedSize: UInt64, writeCount: UInt64
    ) throws(FileFormatError) {
        guard index < count(atLevel: level) else { throw .tampered("an entry is for what is beyond the content") }
        let most = level == 0 ? content(ofChunk: index) : UInt64(FileFormat.nodeByteCount)
        let (end, overflow) = entry.page.multipliedReportingOverflow(by: UInt64(FileFormat.pageSize))
        guard entry.length > 0, UInt64(entry.length) <= most,
            level == 0 || Int(entry.length) % FileEntry.byteCount == 0,
            entry.page > 0, !overflow, end <= storedSize, UInt64(entry.length) <= storedSize - end,
            entry.writeCount > 0, entry.writeCount <= writeCount
        else { throw .tampered("an entry does not go with the header") }
    }
}
