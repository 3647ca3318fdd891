import Foundation
import KeychainModel

@testable import DataProtection
@testable import DataProtectionCore
@testable import KeychainCrypto
@testable import SealedFiles

/// A protected file that a test puts together piece by piece, as somebody could who has its key.
final class HandmadeFile {
    let key: FileKey
    let fileKey: KeyMaterial
    private let cipher: FileCipher
    let chunkBits: UInt8
    /// The whole file; its first page is still empty.
    var bytes = Data(count: FileFormat.headerByteCount)
    var writeCount: UInt64 = 0

    init(_ files: ProtectedFiles, _ protection: FileProtection = .complete, chunkBits: UInt8 = 14) throws {
        key = try files.keys.ask(.make(protection.fileClass, fileID: UUID()), "")
        fileKey = try KeyMaterial(key.key, "")
        cipher = FileCipher(fileKey: fileKey, fileID: key.wrapped.fileID)
        self.chunkBits = chunkBits
    }

    private var nextPage: UInt64 { UInt64(bytes.count).pageCount }

    private func nextEntry(_ count: Int) throws -> FileEntry {
        writeCount += 1
        var nonce = Data(count: 12)
        try nonce.withUnsafeMutableBytes { try SystemRandomness().fill($0) }
        return FileEntry(
            page: nextPage, writeCount: writeCount, length: UInt32(count),
            nonce: nonce.withUnsafeBytes { InlineBytes($0) })
    }

    private func sealed(_ plaintext: Data, _ level: UInt8, _ index: UInt64, _ entry: inout FileEntry) throws -> Data {
        var entryMade = entry
        var ciphertext = Data(count: plaintext.count)
        try ciphertext.withUnsafeMutableBytes { ciphertext throws in
            try plaintext.withUnsafeBytes { plaintext throws in
                try cipher.seal(plaintext, level: level, index: index, entry: &entryMade, into: ciphertext)
            }
        }
        entry = entryMade
        return ciphertext
    }

    /// Adds a chunk (level 0) or a node at the end.
    func add(_ plaintext: Data, level: UInt8 = 0, index: UInt64) throws -> FileEntry {
        var entry = try nextEntry(plaintext.count)
        let ciphertext = try sealed(plaintext, level, index, &entry)
        bytes.append(Data(count: Int(nextPage) * FileFormat.pageSize - bytes.count))
        bytes.append(ciphertext)
        return entry
    }

    func addNode(_ entries: [FileEntry?], level: UInt8 = 1, index: UInt64 = 0) throws -> FileEntry {
        try add(Self.encoded(entries), level: level, index: index)
    }

    static func encoded(_ entries: [FileEntry?]) -> Data {
        entries.reduce(into: Data()) { bytes, entry in
            var part = Data(count: FileEntry.byteCount)
            if let entry { part.withUnsafeMutableBytes { entry.encode(into: $0) } }
            bytes += part
        }
    }

    /// An entry for another chunk that opens at the place of one that is there.
    func sharing(_ other: FileEntry, index: UInt64) throws -> FileEntry {
        let place = Int(other.offset)..<(Int(other.offset) + Int(other.length))
        var entry = try nextEntry(place.count)
        entry.page = other.page
        // What the cipher adds to zeros it adds to everything.
        let stream = try sealed(Data(count: place.count), 0, index, &entry)
        let plaintext = Data(zip(bytes[place], stream).map { $0 ^ $1 })
        let ciphertext = try sealed(plaintext, 0, index, &entry)
        precondition(ciphertext == bytes[place])
        return entry
    }

    func header(
        root: FileEntry?, length: Int, usedPages: UInt64? = nil, sequence: UInt64 = 1, isChangedInPlace: Bool = false,
        bootID: UUID? = nil
    ) -> FileHeader {
        FileHeader(
            key: key.wrapped, chunkBits: chunkBits, isChangedInPlace: isChangedInPlace, sequence: sequence,
            length: UInt64(length), storedSize: UInt64(bytes.count), writeCount: writeCount, root: root,
            bootMark: bootID.map {
                FileHeader.bootMark(of: $0, fileKey: fileKey, fileID: key.wrapped.fileID)
            } ?? FileHeader.BootMark(),
            usedPages: usedPages ?? UInt64(bytes.count).pageCount - 1)
    }

    /// Puts headers into the first page: the one for the first copy, and that for the second.
    func put(_ first: FileHeader, _ second: FileHeader? = nil) {
        for (number, header) in [first, second ?? first].enumerated() {
            let offset = FileFormat.slotOffsets[number]
            bytes.replaceSubrange(
                offset..<(offset + FileFormat.slotByteCount), with: header.encoded(fileKey: fileKey, slot: number))
        }
    }
}
