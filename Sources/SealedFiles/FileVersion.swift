package import FoundationEssentials
internal import Glibc
package import KeychainCrypto

/// A protected file at one moment: the header that counts, and the bytes that a write must leave alone.
///
/// docs/file-format.md, "Changing a file in place", explains the *base*: the last header whose content is on the disk
/// for certain. A crash of the system goes back to it.
package final class FileVersion: Sendable {
    /// The bytes of both slots as they were on the disk.
    let slots: Data
    /// The header that counts. It is verified.
    package let header: FileHeader
    /// The slot of the header.
    let slot: Int
    let standing: Standing
    /// The highest sequence number in the slots.
    let highestSequence: UInt64
    /// Whether the newest header does not count.
    package var isRetreat: Bool { if case .retreat = standing { true } else { false } }

    /// The state of a version on the disk, which says what has to be done before anything else is written.
    ///
    /// ```
    ///             a write                    crash of the system
    ///  durable ────────────────► written ───────────────────────► found
    ///   ▲ ▲ ▲ └── its header is    │ sync                          │ │ its content
    ///   │ │ │     replaced, and    │                 written anew, │ │ does not open
    ///   │ │ │     the program dies │                 sync          │ ▼
    ///   │ │ │           │          │                               │ retreat
    ///   │ │ │           ▼          │                               │ │ written over the newer
    ///   │ │ └─ sync ─ unforced     │                               │ │ header, sync
    ///   │ └────────────────────────┘                               │ │
    ///   └──────────────────────────────────────────────────────────┴─┘
    /// ```
    enum Standing {
        /// The disk has the header and everything that it refers to.
        case durable
        /// The disk has everything that the header refers to, and perhaps not the header.
        case unforced
        /// This start of the system has everything. Without a base the only header must not be written over.
        case written(base: FileHeader?)
        /// Another start of the system has written it. All of it opens, and the disk need not have it: the system may
        /// take an earlier write that failed for written.
        case found(base: FileHeader?)
        /// The other slot has a newer header that does not count, since not all of its content opens. It might open
        /// when the file grows.
        case retreat
    }

    private init(_ slots: Data, _ header: FileHeader, _ slot: Int, _ standing: Standing, highestSequence: UInt64) {
        self.slots = slots
        self.header = header
        self.slot = slot
        self.standing = standing
        self.highestSequence = highestSequence
    }

    /// The version that the judgement of two headers gives.
    ///
    /// - Parameters:
    ///   - mark: The mark of the running system.
    ///   - page: The first page of the file.
    /// - Throws: `.tampered` or `.truncated` if the file is damaged.
    convenience init(
        _ judgement: HeaderJudgement<DataProtectionError>, of pair: FileHeaderPair, _ mark: FileHeader.BootMark,
        _ page: Data, _ path: String
    ) throws(DataProtectionError) {
        let standing: Standing
        switch judgement {
        case .counts(let header, _) where header.isDurable: standing = .durable
        case .counts(let header, let base):
            standing = header.bootMark == mark ? .written(base: base) : .found(base: base)
        case .unfinished: standing = .unforced
        case .retreat: standing = .retreat
        case .damaged(_, let damage): throw DataProtectionError(damage, path)
        }
        // A retreat goes to the header in the other slot.
        let slot = if case .retreat = standing { 1 - pair.newest.slot } else { pair.newest.slot }
        self.init(
            page.withUnsafeBytes { Self.slots(in: $0) }, judgement.header, slot, standing,
            highestSequence: pair.newest.claimed.sequence)
    }

    /// The header to go back to after a crash of the system. `nil` means that there is none that counts.
    var base: FileHeader? {
        switch standing {
        case .durable, .unforced, .retreat: header
        case .written(let base), .found(let base): base
        }
    }

    /// The first page behind everything that the header or the base uses.
    var endOfPages: UInt64 { max(header.storedSize, base?.storedSize ?? 0).pageCount }

    /// The slot of the next header. The base keeps its slot.
    var nextSlot: Int { header.isDurable ? 1 - slot : slot }

    /// Writes a header over a slot.
    ///
    /// - Parameter sequence: The sequence number of the header. `nil` means the next one.
    /// - Returns: The version of the file afterwards.
    func writing(
        _ header: FileHeader, over slot: Int, sequence: UInt64? = nil, _ writer: HeaderWriter
    ) throws(DataProtectionError) -> FileVersion {
        var header = header
        header.sequence = sequence ?? highestSequence + 1
        let bytes = try writer.write(header, slot: slot)
        var slots = slots
        let start = slot * FileFormat.slotByteCount
        slots.replaceSubrange(start..<(start + bytes.count), with: bytes)
        return FileVersion(
            slots, header, slot, header.isDurable ? .durable : .written(base: base), highestSequence: header.sequence)
    }

    /// This version when the disk has its header for certain.
    var forced: FileVersion { FileVersion(slots, header, slot, .durable, highestSequence: highestSequence) }

    /// The bytes of both slots, from the first page of a file.
    private static func slots(in page: UnsafeRawBufferPointer) -> Data {
        FileFormat.slotOffsets.reduce(into: Data(capacity: 2 * FileFormat.slotByteCount)) { slots, offset in
            slots.append(contentsOf: page[offset..<(offset + FileFormat.slotByteCount)])
        }
    }

    /// Whether the first page of the file still has these slots.
    func isIn(_ page: UnsafeRawBufferPointer) -> Bool {
        slots.withUnsafeBytes { slots in
            FileFormat.slotOffsets.enumerated().allSatisfy { number, offset in
                let known = slots.baseAddress! + number * FileFormat.slotByteCount
                return page.count >= offset + FileFormat.slotByteCount
                    && memcmp(known, page.baseAddress! + offset, FileFormat.slotByteCount) == 0
            }
        }
    }
}

/// The key of one file, and the keys that are derived from it.
package final class OpenFileKey: Sendable {
    let fileID: UUID
    package let fileKey: KeyMaterial
    let cipher: FileCipher
    /// The mark of this start of the system in headers whose content was not forced to the disk.
    let bootMark: FileHeader.BootMark
    let nodes = NodeCache()
    /// The nodes of the version that this process knows the free pages of.
    let mappedNodes = NodeCache()

    package init(_ fileKey: KeyMaterial, fileID: UUID, bootID: UUID) {
        self.fileID = fileID
        self.fileKey = fileKey
        cipher = FileCipher(fileKey: fileKey, fileID: fileID)
        bootMark = FileHeader.bootMark(of: bootID, fileKey: fileKey, fileID: fileID)
    }
}
