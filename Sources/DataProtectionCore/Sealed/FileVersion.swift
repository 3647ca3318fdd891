internal import FoundationEssentials
internal import Glibc
internal import KeychainCrypto

/// A protected file at one moment: the header that counts, and the bytes that a write must leave alone.
///
/// docs/file-format.md, "Changing a file in place", explains the *base*: the last header whose content is on the disk
/// for certain. A crash of the system goes back to it.
final class FileVersion: Sendable {
    /// The bytes of both slots as they were on the disk.
    let slots: Data
    /// The header that counts. It is verified.
    let header: FileHeader
    /// The slot of the header.
    let slot: Int
    /// The header to go back to after a crash of the system. `nil` means that there is none that counts.
    let base: FileHeader?
    /// The highest sequence number in the slots.
    let highestSequence: UInt64
    /// The work that has to be done before anything is written.
    let unfinished: Unfinished?

    enum Unfinished {
        /// The disk has the content of the header, and perhaps not the header itself.
        case header
        /// The other slot has a newer header that does not count, since not all of its content opens. It might open
        /// when the file grows.
        case retreat
    }

    /// Makes a version.
    ///
    /// - Parameter base: The base. `nil` means that the header is the base itself.
    init(
        slots: Data, header: FileHeader, slot: Int, base: FileHeader?, highestSequence: UInt64,
        unfinished: Unfinished? = nil
    ) {
        self.unfinished = unfinished
        self.slots = slots
        self.header = header
        self.slot = slot
        self.base = header.isDurable ? header : base
        self.highestSequence = highestSequence
    }

    /// The version that the judgement of two headers gives.
    ///
    /// - Throws: `.tampered` or `.truncated` if the file is damaged.
    convenience init(
        _ judgement: HeaderJudgement<DataProtectionError>, of pair: FileHeaderPair, slots: Data, _ path: String
    ) throws(DataProtectionError) {
        let (newest, former) = (pair.newest.slot, pair.former?.slot ?? pair.newest.slot)
        let sequence = pair.newest.claimed.sequence
        switch judgement {
        case .counts(let header, let base):
            self.init(slots: slots, header: header, slot: newest, base: base, highestSequence: sequence)
        case .unfinished(let header):
            self.init(
                slots: slots, header: header, slot: newest, base: header, highestSequence: sequence,
                unfinished: .header)
        case .retreat(let base):
            self.init(
                slots: slots, header: base, slot: former, base: base, highestSequence: sequence, unfinished: .retreat)
        case .damaged(_, let damage): throw DataProtectionError(damage, path)
        }
    }

    /// The slot of the next header. The base keeps its slot.
    var nextSlot: Int { header.isDurable ? 1 - slot : slot }

    /// Writes a header over a slot.
    ///
    /// - Returns: The version of the file afterwards.
    func writing(
        _ header: FileHeader, over slot: Int, _ writer: HeaderWriter
    ) throws(DataProtectionError) -> FileVersion {
        let bytes = try writer.write(header, slot: slot)
        var slots = slots
        let start = slot * FileFormat.slotByteCount
        slots.replaceSubrange(start..<(start + bytes.count), with: bytes)
        return FileVersion(
            slots: slots, header: header, slot: slot, base: base, highestSequence: header.sequence)
    }

    /// A copy of this version for the moment when the disk has it for certain.
    var whole: FileVersion {
        FileVersion(slots: slots, header: header, slot: slot, base: base, highestSequence: highestSequence)
    }

    /// The bytes of both slots, from the first page of a file.
    static func slots(in page: UnsafeRawBufferPointer) -> Data {
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
final class OpenFileKey: Sendable {
    let fileID: UUID
    let fileKey: KeyMaterial
    let cipher: FileCipher
    /// The mark of this start of the system in headers whose content was not forced to the disk.
    let bootMark: FileHeader.BootMark
    let nodes = NodeCache()

    init(_ fileKey: KeyMaterial, fileID: UUID, bootID: UUID) {
        self.fileID = fileID
        self.fileKey = fileKey
        cipher = FileCipher(fileKey: fileKey, fileID: fileID)
        bootMark = FileHeader.bootMark(of: bootID, fileKey: fileKey, fileID: fileID)
    }
}
