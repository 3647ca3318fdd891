internal import KeychainModel

/// The numbers of the protected file's format (docs/file-format.md).
package enum FileFormat {
    /// Every place in a file is a multiple of this.
    package static let pageSize = 4096
    package static let headerByteCount = pageSize
    package static let slotByteCount = 512
    /// Where the two copies of the header are.
    package static let slotOffsets = [0, 2048]
    /// Where a slot says which of the two it is.
    static let slotNumberOffset = 15
    package static let magic: [UInt8] = [0x89, 0x4b, 0x43, 0x46, 0x0d, 0x0a, 0x1a, 0x0a]
    package static let newestVersion: UInt16 = 2
    static let suite: UInt8 = 1
    /// log2 of the chunk sizes that there are: 4 KiB to 1 MiB.
    package static let chunkBits: ClosedRange<UInt8> = 12...20
    /// 16 KiB: cipher and disk are as fast as with larger ones, and a small change costs little.
    package static let usualChunkBits: UInt8 = 14
    /// How many children a node has.
    package static let fanOut = 64
    package static let entryByteCount = 64
    package static let nodeByteCount = fanOut * entryByteCount
    /// How many write counts share a content key, in powers of two: far below the limit for random nonces (NIST SP
    /// 800-38D, section 8.3).
    package static let epochBits: UInt64 = 31
    /// The most content a file can have, so that no sum of lengths and places overflows.
    package static let mostContent: UInt64 = 1 << 60

    /// The version of a header, which is the first one that has its class.
    static func version(for fileClass: FileClass) -> UInt16 { fileClass == .completeWhenUserInactive ? 2 : 1 }

    /// Whether bytes from the beginning of a file belong to a protected one: either copy of the header says so, and
    /// which copy it is. A file that contains a protected one, as an archive may, is not protected.
    package static func isProtected(_ start: UnsafeRawBufferPointer) -> Bool {
        slotOffsets.indices.contains { number in
            let slot = start.dropFirst(slotOffsets[number])
            if slot.count <= slotNumberOffset {
                // Cut off in the midst of it.
                return number == 0 && slot.count >= magic.count && slot.starts(with: magic)
            }
            return slot.starts(with: magic) && slot[slot.startIndex + slotNumberOffset] == number
        }
    }
}

extension UInt64 {
    /// How many pages as many bytes take.
    package var pageCount: UInt64 { (self + UInt64(FileFormat.pageSize) - 1) / UInt64(FileFormat.pageSize) }
}

extension Int {
    /// How many pages as many bytes take.
    package var pageCount: Int { (self + FileFormat.pageSize - 1) / FileFormat.pageSize }
}
