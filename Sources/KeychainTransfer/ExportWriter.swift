internal import FoundationEssentials
package import KeychainCrypto
package import KeychainModel

/// Makes the bytes of an export, one item after the other.
///
/// It holds one chunk at a time. The output is no export before ``finish(leftOut:)`` returned: without the last chunk
/// it cannot be opened.
package final class ExportWriter {
    private let write: (UnsafeRawBufferPointer) throws(KeychainError) -> Void
    private let chunk: ExportChunk
    private var filled = 0
    private var items = 0

    /// - Parameters:
    ///   - key: Made for this file alone: the chunks of two files under one key would have the same nonces.
    ///   - write: Is given the bytes of the file in their order.
    package init(
        _ key: ExportKey, write: @escaping (UnsafeRawBufferPointer) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        self.write = write
        chunk = ExportChunk(key.chunkKey)
        try key.header.withUnsafeBytesTyped { bytes throws(KeychainError) in try write(bytes) }
    }

    /// - Throws: `.dataTooLarge` for an item whose parts do not fit into their lengths; the errors of `write`.
    package func append(_ item: Item) throws(KeychainError) {
        let metadata = ExportedItem.metadata(of: item)
        guard metadata.count <= UInt32.max, (item.secret?.count ?? 0) <= UInt32.max else {
            throw KeychainError(.dataTooLarge, message: "an item is too large to be exported")
        }
        try append(ExportedItem.head(of: item, metadataCount: metadata.count))
        try append(metadata)
        try item.secret?.withUnsafeBytes { bytes throws(KeychainError) in try append(bytes) }
        items += 1
    }

    /// Writes all items of a keychain, part by part, and the end.
    ///
    /// - Parameters:
    ///   - group: Only the items of this access group; nil: of every group.
    ///   - ask: Asks the keychain for a part.
    ///   - show: Is told after each part how many rows were dealt with.
    /// - Throws: `.itemNotFound` if the group has none.
    package func writeAll(
        of group: String?, _ ask: (ExportRequest) throws -> ExportedPart, show: (_ done: Int) throws -> Void
    ) throws -> ExportSummary {
        var (leftOut, count) = (LeftOut(), 0)
        var request: ExportRequest? = ExportRequest(accessGroup: group)
        while let present = request {
            let part = try ask(present)
            for item in part.items { try append(item) }
            leftOut += part.leftOut
            count += part.count
            try show(count)
            request = part.next.map { ExportRequest(accessGroup: group, start: $0) }
        }
        // A group without items is most probably a mistyped name, which would first show on the day of the restore.
        if let group, count == 0 {
            throw KeychainError(.itemNotFound, message: "no item is in the access group \(group): nothing was exported")
        }
        try finish(leftOut: leftOut)
        return ExportSummary(items: items, leftOut: leftOut)
    }

    package func finish(leftOut: LeftOut) throws(KeychainError) {
        try append(ExportRecord.endBytes(ExportSummary(items: items, leftOut: leftOut)))
        try writeChunk(isLast: true)
    }

    private func append(_ data: Data) throws(KeychainError) {
        try data.withUnsafeBytesTyped { bytes throws(KeychainError) in try append(bytes) }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // Now it is certain that the full chunk is not the last one.
            if filled == ExportChunk.byteCount { try writeChunk(isLast: false) }
            let part = rest.prefix(ExportChunk.byteCount - filled)
            UnsafeMutableRawBufferPointer(rebasing: chunk.content[filled...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: part))
            filled += part.count
            rest = rest.dropFirst(part.count)
        }
    }

    private func writeChunk(isLast: Bool) throws(KeychainError) {
        try chunk.seal(filled, isLast: isLast)
        try write(UnsafeRawBufferPointer(chunk.sealed(filled)))
        filled = 0
    }
}

extension Data {
    /// As `withUnsafeBytes`, for a body that throws errors of ours.
    func withUnsafeBytesTyped<R>(
        _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        try withUnsafeBytes { bytes in Result { () throws(KeychainError) in try body(bytes) } }.get()
    }
}
