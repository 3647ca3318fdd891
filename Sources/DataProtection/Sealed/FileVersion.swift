internal import Foundation
internal import KeychainCrypto

/// What a protected file is at one moment: the header that counts, and what a write has to leave alone.
final class FileVersion: Sendable {
    /// Both slots, as they were on the disk.
    let slots: Data
    /// Verified.
    let header: FileHeader
    /// Where it is.
    let slot: Int
    /// The one to go back to after a crash of the system; nil: there is none that counts.
    let base: FileHeader?
    /// Of all headers in the slots.
    let highestSequence: UInt64
    /// What has to be done before anything is written.
    let unfinished: Unfinished?

    enum Unfinished {
        /// The disk has all that the header refers to, but perhaps not the header (``FileHeaderPair/mayBeHalfWritten``).
        case header
        /// The other slot has a newer header that does not count, as not all of it opens. It might when the file grows.
        case retreat
    }

    /// - Parameter base: nil if the header is the base itself.
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

    /// Where the next header goes: the base stays.
    var nextSlot: Int { header.isDurable ? 1 - slot : slot }

    /// The same with another header.
    func replacing(_ slot: Int, by header: FileHeader, _ bytes: Data) -> FileVersion {
        var slots = slots
        let start = slot * FileFormat.slotByteCount
        slots.replaceSubrange(start..<(start + bytes.count), with: bytes)
        return FileVersion(
            slots: slots, header: header, slot: slot, base: base, highestSequence: header.sequence)
    }

    /// The same when it is sure that the disk has it.
    var whole: FileVersion {
        FileVersion(slots: slots, header: header, slot: slot, base: base, highestSequence: highestSequence)
    }

    /// The bytes of both slots from the first page of a file.
    static func slots(in page: UnsafeRawBufferPointer) -> Data {
        FileFormat.slotOffsets.reduce(into: Data(capacity: 2 * FileFormat.slotByteCount)) { slots, offset in
            slots.append(contentsOf: page[offset..<(offset + FileFormat.slotByteCount)])
        }
    }

    /// Whether the first page of the file still has the same slots.
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

extension FileHeaderPair {
    /// Whether a program may have died after it wrote a durable header to the slot in which the base was not, and before
    /// that was forced to the disk. Until then it is the other slot, which says the same of the content, that counts
    /// after a crash.
    var mayBeHalfWritten: Bool {
        guard let former, newest.claimed.isDurable else { return false }
        return former.claimed.root == newest.claimed.root && former.claimed.length == newest.claimed.length
    }
}

/// The key of one file, and what follows from it.
final class OpenFileKey: Sendable {
    let fileID: UUID
    let fileKey: KeyMaterial
    let cipher: FileCipher
    /// How this start of the system marks what it has not forced to the disk.
    let bootMark: FileHeader.BootMark
    let nodes = NodeCache()

    init(_ fileKey: KeyMaterial, fileID: UUID, bootID: UUID) {
        self.fileID = fileID
        self.fileKey = fileKey
        cipher = FileCipher(fileKey: fileKey, fileID: fileID)
        bootMark = FileHeader.bootMark(of: bootID, fileKey: fileKey, fileID: fileID)
    }
}
