import Foundation
import KeychainClient
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import SwiftKeychain
import Testing

@testable import DataProtection
@testable import DataProtectionCore
@testable import KeychainCrypto
@testable import SealedFiles

/// What somebody can do who writes the file and cannot open it (docs/file-format.md, "What is detected").
@Suite struct SealedFileAttackTests {
    private static let page = FileFormat.pageSize
    private static let chunk = 16_384

    /// Runs `body` with a protected file of some length, and what it holds on the disk.
    private func withFile(
        _ length: Int, _ protection: FileProtection = .complete, _ body: (AttackedFile) throws -> Void
    ) throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try files.write(content(length), to: url, protection: protection)
            try body(AttackedFile(files: files, url: url, content: content(length), stored: try Data(contentsOf: url)))
        }
    }

    // MARK: Every byte, every length

    @Test("A changed byte of a small file is without effect or an error", arguments: FileProtection.allCases)
    func everyByte(protection: FileProtection) throws {
        try withFile(300, protection) { file throws in
            var harmless: [Int] = []
            let offsets = Array(stride(from: 0, to: file.stored.count, by: Effort.stride(7)))
            for offset in offsets {
                var bytes = file.stored
                bytes[offset] ^= 0x01
                if try file.outcome(of: bytes) == nil { harmless.append(offset) }
            }
            // All of the content and of what belongs to it: only the header's second copy and what nobody reads is left.
            let copies = FileFormat.slotOffsets.map { $0..<($0 + FileFormat.slotByteCount) }
            #expect(harmless.allSatisfy { $0 < Self.page })
            // Either copy of the header may be lost, since the other one is whole.
            for copy in copies { #expect(harmless.filter(copy.contains) == offsets.filter(copy.contains)) }
        }
    }

    @Test("A changed byte anywhere in the content or in the tables is found")
    func contentByte() throws {
        try withFile(5 * Self.chunk + 77) { file throws in
            let places = Array(stride(from: Self.page, to: file.stored.count, by: 211)) + [file.stored.count - 1]
            for offset in places {
                var bytes = file.stored
                bytes[offset] ^= 0x80
                let isGap = file.isGap(offset)
                #expect(try file.outcome(of: bytes) == (isGap ? nil : .tampered), "at \(offset)")
            }
        }
    }

    @Test("Both copies of the header changed alike are an error at each of their bytes")
    func bothCopies() throws {
        try withFile(300) { file throws in
            for offset in 0..<FileFormat.slotByteCount {
                var bytes = file.stored
                for slot in FileFormat.slotOffsets { bytes[slot + offset] ^= 0x01 }
                let outcome = try file.outcome(of: bytes)
                #expect(outcome != nil, "at \(offset)")
                if offset < 8 || offset == 15 { #expect(outcome == .notProtected) }
            }
        }
    }

    @Test("The same with a checksum that fits, which anyone can make")
    func fittingChecksum() throws {
        try withFile(300) { file throws in
            for offset in 8..<496 where offset != 15 {
                let bytes = file.editingHeader { $0[offset] ^= 0x01 }
                let outcome = try file.outcome(of: bytes)
                // The store's id and the key's generation say under which key the file is.
                let allowed: [DataProtectionError.Code] =
                    switch offset {
                    case 32..<52: [.wrongKey, .tampered, .keychain]
                    default: [.tampered]
                    }
                #expect(outcome.map(allowed.contains) == true, "at \(offset): \(String(describing: outcome))")
            }
        }
    }

    @Test("A file that is cut off is told as such, at whatever length")
    func truncation() throws {
        try withFile(300) { file throws in
            for length in 0..<file.stored.count {
                let outcome = try file.outcome(of: file.stored.prefix(length))
                #expect(outcome == (length < 8 ? .notProtected : .truncated), "at \(length)")
            }
        }
        try withFile(3 * Self.chunk + 5) { file throws in
            for length in stride(from: Self.page, to: file.stored.count, by: 1021) {
                #expect(try file.outcome(of: file.stored.prefix(length)) == .truncated, "at \(length)")
            }
            #expect(try file.outcome(of: file.stored.dropLast()) == .truncated)
        }
    }

    @Test("Bytes that are added at the end are found", arguments: [1, 4096, 16_384])
    func extended(count: Int) throws {
        try withFile(2 * Self.chunk) { file throws in
            #expect(try file.outcome(of: file.stored + Data(count: count)) == .tampered)
        }
    }

    // MARK: Chunks and tables

    @Test("Chunks that are exchanged, repeated, zeroed or of another file are found")
    func chunks() throws {
        try withFile(6 * Self.chunk) { file throws in
            let places = (0..<6).map { Self.page + $0 * Self.chunk }
            func chunk(_ number: Int) -> Data { file.stored[places[number]..<(places[number] + Self.chunk)] }
            func replacing(_ number: Int, _ bytes: Data) -> Data {
                var stored = file.stored
                stored.replaceSubrange(places[number]..<(places[number] + Self.chunk), with: bytes)
                return stored
            }
            for first in 0..<6 {
                for second in 0..<6 where second != first {
                    var exchanged = replacing(first, chunk(second))
                    #expect(try file.outcome(of: exchanged) == .tampered, "\(second) in the place of \(first)")
                    exchanged.replaceSubrange(places[second]..<(places[second] + Self.chunk), with: chunk(first))
                    #expect(try file.outcome(of: exchanged) == .tampered, "\(first) and \(second) exchanged")
                }
                #expect(try file.outcome(of: replacing(first, Data(count: Self.chunk))) == .tampered)
            }
            // A file of the same content, class and place.
            let other = file.url.deletingLastPathComponent().appendingPathComponent("other")
            try file.files.write(file.content, to: other, protection: .complete)
            let foreign = try Data(contentsOf: other)
            #expect(foreign.count == file.stored.count)
            for start in [places[0], places[5], places[5] + Self.chunk] {
                var mixed = file.stored
                let end = min(start + Self.chunk, mixed.count)
                mixed.replaceSubrange(start..<end, with: foreign[start..<end])
                #expect(try file.outcome(of: mixed) == .tampered)
            }
            #expect(try file.outcome(of: foreign.prefix(Self.page) + file.stored.dropFirst(Self.page)) == .tampered)
            #expect(try file.outcome(of: foreign) == nil, "a whole file that is exchanged is not detected, and said so")
        }
    }

    @Test("A chunk or table that is put back to what it was under the same key is found")
    func rollBack() throws {
        try withFile(3 * Self.chunk) { file throws in
            // What a change in place leaves on the disk: the same file key, other content, other write counts.
            let key = try file.files.keys.ask(.make(.complete, fileID: UUID()), file.url.path)
            func written(_ content: Data) throws -> Data {
                let new = try Replacement(of: file.url.path, mode: 0o600, SystemFiles())
                let writer = try SealedFileWriter(
                    new.descriptor, file.url.path, key: key, files: SystemFiles(), randomness: SystemRandomness())
                try content.withUnsafeBytes { bytes throws in try writer.finish(bytes) }
                try new.publish(isDurable: false)
                return try Data(contentsOf: file.url)
            }
            let old = try written(file.content)
            let other = content(3 * Self.chunk, seed: 9)
            let new = try written(other)
            #expect(try file.outcome(of: new, content: other) == nil)
            for start in stride(from: Self.page, to: new.count, by: Self.chunk) {
                var mixed = new
                let end = min(start + Self.chunk, new.count)
                mixed.replaceSubrange(start..<end, with: old[start..<end])
                #expect(try file.outcome(of: mixed, content: other) == .tampered, "at \(start)")
            }
            // Everything but the header.
            #expect(
                try file.outcome(of: new.prefix(Self.page) + old.dropFirst(Self.page), content: other) == .tampered)
        }
    }

    // MARK: Headers

    @Test("Two headers of the same number that differ are an error, and the one with the higher number counts")
    func rivals() throws {
        try withFile(300) { file throws in
            // Another file's, which is whole in itself.
            let other = file.url.deletingLastPathComponent().appendingPathComponent("other")
            try file.files.write(file.content, to: other, protection: .complete)
            let foreign = try Data(contentsOf: other)
            for slot in FileFormat.slotOffsets {
                var bytes = file.stored
                let range = slot..<(slot + FileFormat.slotByteCount)
                bytes.replaceSubrange(range, with: foreign[range])
                #expect(try file.outcome(of: bytes) == .tampered)
            }
            // An old header does not come back while a newer one is there.
            let former = file.stored.prefix(FileFormat.slotByteCount)
            try file.stored.write(to: file.url)
            try file.files.setProtection(.always, of: file.url)
            var changed = try Data(contentsOf: file.url)
            changed.replaceSubrange(0..<former.count, with: former)
            try changed.write(to: file.url)
            #expect(try file.files.protection(of: file.url) == .always)
            #expect(try file.files.read(from: file.url) == file.content)
        }
    }

    @Test("Headers that their maker authenticated are believed in nothing that could do harm")
    func hostileMaker() throws {
        try withFile(300) { file throws in
            let key = try file.files.keys.ask(.make(.completeUnlessOpen, fileID: UUID()), file.url.path)
            let fileKey = try KeyMaterial(key.key, "")
            func outcome(
                length: UInt64 = 100, stored: UInt64 = 8192, page: UInt64 = 1, count: UInt32 = 100, write: UInt64 = 1,
                bits: UInt8 = 14, root: Bool = true, sequence: UInt64 = 1,
                used: UInt64 = 1
            ) throws -> DataProtectionError.Code? {
                let entry = FileEntry(page: page, writeCount: write, length: count)
                let header = FileHeader(
                    key: key.wrapped, chunkBits: bits, sequence: sequence, length: length, storedSize: stored,
                    writeCount: 1,
                    root: root ? entry : nil, usedPages: used)
                var bytes = Data(count: 8192)
                for (number, offset) in FileFormat.slotOffsets.enumerated() {
                    let slot = header.encoded(fileKey: fileKey, slot: number)
                    bytes.replaceSubrange(offset..<(offset + slot.count), with: slot)
                }
                return try file.outcome(of: bytes, content: Data(count: 100))
            }
            #expect(try outcome(root: false) == nil, "a hole is no error")
            #expect(try outcome() == .tampered, "its chunk does not open")
            #expect(try outcome(page: 0) == .tampered)
            #expect(try outcome(page: 2) == .tampered)
            #expect(try outcome(page: .max) == .tampered)
            #expect(try outcome(page: 1 << 60) == .tampered)
            #expect(try outcome(count: 0) == .tampered)
            #expect(try outcome(count: 101) == .tampered)
            #expect(try outcome(count: .max) == .tampered)
            #expect(try outcome(write: 0) == .tampered)
            #expect(try outcome(write: 2) == .tampered)
            #expect(try outcome(write: .max) == .tampered)
            #expect(try outcome(length: 1 << 40, count: 63) == .system, "more than there is memory")
            #expect(try outcome(length: 1 << 60, root: false) == .system, "nothing but a hole, larger than memory")
            #expect(try outcome(length: 1 << 20, count: 63) == .tampered, "a table of no whole number of entries")
            #expect(try outcome(length: 1 << 61) == .tampered)
            #expect(try outcome(length: .max) == .tampered)
            #expect(try outcome(length: 0) == .tampered)
            #expect(try outcome(root: false, sequence: .max) == .tampered, "there could be no next one")
            #expect(try outcome(root: false, sequence: 0) == .tampered)
            #expect(try outcome(stored: 8193) == .truncated)
            #expect(try outcome(stored: 4096) == .tampered)
            #expect(try outcome(stored: .max) == .tampered)
            #expect(try outcome(used: 3) == .tampered, "more pages than there are")
            #expect(try outcome(used: .max) == .tampered)
            for bits in [0, 11, 21, 63, 64, 255] as [UInt8] { #expect(try outcome(bits: bits) == .tampered) }
        }
    }

    @Test("A file that has a protected one within it is a plain file, wherever that begins")
    func archives() throws {
        try withFile(300) { file throws in
            // An archive of directories (tar) has a header of 512 bytes for each.
            for offset in [512, 1024, 1536, 2048, 2560, 4096] {
                let archive = Data(count: offset) + file.stored + Data(count: 1024)
                #expect(try file.outcome(of: archive) == .notProtected, "at \(offset)")
                #expect(try !file.files.isProtected(file.url))
                #expect(try file.files.protection(of: file.url) == nil)
            }
            // One copy of the header in the place of the other.
            var bytes = file.stored
            bytes.replaceSubrange(0..<512, with: file.stored[2048..<2560])
            #expect(try file.outcome(of: bytes) == nil, "the second copy is still there")
            bytes = file.stored
            bytes.replaceSubrange(2048..<2560, with: file.stored[0..<512])
            #expect(try file.outcome(of: bytes) == nil)
        }
    }

    @Test("The class of a file that was cut off or extended is not changed", arguments: [-1, 1])
    func classOfDamaged(difference: Int) throws {
        try withFile(300) { file throws in
            let bytes = difference < 0 ? file.stored.dropLast() : file.stored + Data(count: 1)
            try bytes.write(to: file.url)
            let error = #expect(throws: DataProtectionError.self) {
                try file.files.setProtection(.always, of: file.url)
            }
            #expect(error?.code == (difference < 0 ? .truncated : .tampered))
            #expect(try Data(contentsOf: file.url) == bytes)
        }
    }

    @Test("A plain file, one of a newer version and one that ends within its header are told apart")
    func otherFiles() throws {
        try withFile(300) { file throws in
            #expect(try file.outcome(of: Data()) == .notProtected)
            #expect(try file.outcome(of: Data("plain".utf8)) == .notProtected)
            #expect(try file.outcome(of: Data(FileFormat.magic)) == .truncated)
            #expect(try file.outcome(of: Data(FileFormat.magic) + Data(count: 5000)) == .tampered)
            #expect(try file.outcome(of: file.editingHeader { $0[9] = 3 }) == .newerFormat)
            #expect(try file.outcome(of: file.editingHeader { $0[9] = 2 }) == .tampered, "its class has version 1")
            #expect(try file.outcome(of: file.editingHeader { $0[12] = 7 }) == .tampered, "that class has version 2")
            #expect(try file.outcome(of: file.editingHeader { $0[9] = 0 }) == .tampered, "there never was a format 0")
            // Only the second copy still says what it is.
            var bytes = file.stored
            bytes.replaceSubrange(0..<512, with: Data(count: 512))
            #expect(try file.outcome(of: bytes) == nil)
        }
    }
}

/// A file that is given other bytes again and again.
private struct AttackedFile {
    let files: ProtectedFiles
    let url: URL
    let content: Data
    let stored: Data

    /// Why these bytes are refused; nil: they give the content, unchanged.
    func outcome(of bytes: Data, content: Data? = nil) throws -> DataProtectionError.Code? {
        try bytes.write(to: url)
        do throws(DataProtectionError) {
            let read = try files.read(from: url)
            #expect(read == content ?? self.content, "other content without an error")
            return nil
        } catch {
            // What is given out in parts is refused as well, and nothing false comes before.
            return error.code
        }
    }

    /// The same change in both copies of the header, with a checksum that fits.
    func editingHeader(_ edit: (inout Data) -> Void) -> Data {
        var bytes = stored
        for offset in FileFormat.slotOffsets {
            let range = offset..<(offset + FileFormat.slotByteCount)
            var slot = Data(stored[range])
            edit(&slot)
            var digest = Data(count: 32)
            digest.withUnsafeMutableBytes { digest in
                slot.prefix(496).withUnsafeBytes { SHA256State.hash($0, into: digest) }
            }
            slot.replaceSubrange(496..<512, with: digest.prefix(16))
            bytes.replaceSubrange(range, with: slot)
        }
        return bytes
    }

    /// Whether a byte lies between the last chunk and the table on the next page.
    func isGap(_ offset: Int) -> Bool {
        let last = 4096 + content.count
        return (last..<((last + 4095) / 4096 * 4096)).contains(offset)
    }
}
