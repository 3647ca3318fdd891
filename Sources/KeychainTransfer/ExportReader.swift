internal import FoundationEssentials
package import KeychainCrypto
package import KeychainModel

/// Opens the bytes of an export, one entry after the other.
///
/// Every entry that it gives is authentic. That the export is whole is certain only when it has given the last one.
package final class ExportReader {
    private let read: (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Void
    private let chunk: ExportChunk
    /// The bytes of the file that were not read yet.
    private var sealedRest: Int
    /// The bytes of the content, the open chunk included, that were not given yet.
    private var rest: Int
    /// Where the open chunk goes on, and where it ends.
    private var place = 0
    private var end = 0
    private var items = 0
    private var isAtEnd = false

    /// - Parameters:
    ///   - byteCount: How many bytes follow the header, to the end of the file.
    ///   - read: Fills its buffer with the next of them, or throws.
    /// - Throws: `.decode` if no export has so many.
    package init(
        _ key: ExportKey, byteCount: Int, read: @escaping (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        self.read = read
        chunk = ExportChunk(key.chunkKey)
        guard 0...Int.max - ExportChunk.sealedByteCount ~= byteCount else {
            throw .damagedExport("it has no such size")
        }
        let chunks = (byteCount + ExportChunk.sealedByteCount - 1) / ExportChunk.sealedByteCount
        sealedRest = byteCount
        rest = byteCount - chunks * AESGCM.tagByteCount
        let last = byteCount - (chunks - 1) * ExportChunk.sealedByteCount
        guard chunks > 0, last > AESGCM.tagByteCount else { throw .damagedExport("its end is missing") }
    }

    /// The next entry; nil after the last one.
    ///
    /// - Throws: `.decode` if the file is not whole as it was made; the errors of `read`.
    package func next() throws(KeychainError) -> ExportRecord? {
        if isAtEnd { return nil }
        guard let kind = ExportRecord.Kind(rawValue: try peek()) else {
            throw .damagedExport("it has entries of a kind that is not defined")
        }
        switch kind {
        case .item:
            let item = try nextItem()
            items += 1
            return item.map(ExportRecord.item) ?? .unreadable
        case .end:
            let summary = try nextSummary()
            guard summary.items == items, rest == 0 else { throw .damagedExport("its end says something else") }
            isAtEnd = true
            return .end(summary)
        }
    }

    /// The next items, so many as one request imports; none after the last one.
    ///
    /// - Parameter refused: Is raised by the number of entries among them that the engine would refuse.
    package func nextBatch(_ refused: inout Int) throws(KeychainError) -> [Item] {
        var (batch, bytes) = ([Item](), 0)
        while batch.count < 500 && bytes < 4 << 20, let record = try next() {
            switch record {
            // It may be large in parts that the count of bytes leaves out.
            case .item(let item) where item.flaw != nil: refused += 1
            case .item(let item):
                batch.append(item)
                bytes += (item.secret?.count ?? 0) + item.attributes.byteCount
            case .unreadable: refused += 1
            case .end: break
            }
        }
        return batch
    }

    // MARK: Entries

    private func nextItem() throws(KeychainError) -> Item? {
        guard let head = ExportRecordHead(try take(ExportedItem.headByteCount)) else {
            throw .damagedExport("an entry is cut short")
        }
        // The lengths are checked before memory is taken for them.
        guard head.metadataCount + head.secretCount <= rest else { throw .damagedExport("an entry is cut short") }
        // Lengths that no item can have are passed over, and not made room for.
        guard head.metadataCount <= 2 * Item.mostBytes, head.secretCount <= Item.mostBytes else {
            try skip(head.metadataCount + head.secretCount)
            return nil
        }
        let metadata = try takeErased(head.metadataCount)
        let secret = try takeErased(head.secretCount)
        return metadata.withUnsafeBytes { head.item(metadata: $0, secret: secret) }
    }

    private func nextSummary() throws(KeychainError) -> ExportSummary {
        var reader = ByteReader(try take(ExportRecord.endByteCount).dropFirst())
        func count() throws(KeychainError) -> Int {
            guard let count = reader.integer(UInt64.self).flatMap(Int.init(exactly:)) else {
                throw .damagedExport("its end is not readable")
            }
            return count
        }
        let items = try count()
        var leftOut = LeftOut()
        leftOut.thisDeviceOnly = try count()
        leftOut.constrained = try count()
        leftOut.ofTokens = try count()
        leftOut.unreadable = try count()
        return ExportSummary(items: items, leftOut: leftOut)
    }

    // MARK: Bytes

    private func take(_ count: Int) throws(KeychainError) -> Data {
        guard count <= rest else { throw .damagedExport("an entry is cut short") }
        var data = Data(count: count)
        try data.withUnsafeMutableBytesTyped { target throws(KeychainError) in try fill(target) }
        return data
    }

    private func takeErased(_ count: Int) throws(KeychainError) -> SecretBytes {
        try SecretBytes(count: count) { target throws(KeychainError) in try fill(target) }
    }

    private func peek() throws(KeychainError) -> UInt8 {
        guard rest > 0 else { throw .damagedExport("its end is missing") }
        if place == end { try openChunk() }
        return chunk.content[place]
    }

    /// - Precondition: There are so many bytes.
    private func fill(_ target: UnsafeMutableRawBufferPointer) throws(KeychainError) {
        var filled = 0
        while filled < target.count {
            if place == end { try openChunk() }
            let part = chunk.content[place..<end].prefix(target.count - filled)
            UnsafeMutableRawBufferPointer(rebasing: target[filled...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: part))
            place += part.count
            filled += part.count
            rest -= part.count
        }
    }

    /// - Precondition: There are so many bytes.
    private func skip(_ count: Int) throws(KeychainError) {
        var left = count
        while left > 0 {
            if place == end { try openChunk() }
            let part = min(left, end - place)
            place += part
            rest -= part
            left -= part
        }
    }

    private func openChunk() throws(KeychainError) {
        let sealedCount = min(sealedRest, ExportChunk.sealedByteCount)
        let count = sealedCount - AESGCM.tagByteCount
        try read(chunk.sealed(count))
        sealedRest -= sealedCount
        try chunk.open(count, isLast: sealedRest == 0)
        place = 0
        end = count
    }
}
