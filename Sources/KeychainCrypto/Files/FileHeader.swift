package import FoundationEssentials
package import KeychainModel

/// The header at the beginning of a protected file.
package struct FileHeader: Sendable, Hashable {
    package var key: WrappedFileKey
    package var chunkBits: UInt8
    /// The file was changed in place: what lies behind its stored size belongs to a write that was not committed.
    package var isChangedInPlace: Bool
    /// Counts the headers that this file has had.
    package var sequence: UInt64
    /// How many bytes of content there are.
    package var length: UInt64
    /// How many bytes the whole file has.
    package var storedSize: UInt64
    /// The highest write count of an entry.
    package var writeCount: UInt64
    /// nil: there is no content, or nothing but zeros.
    package var root: FileEntry?
    /// The mark of a running system that has all that the header refers to, but may not have it on the disk yet; zeros:
    /// the disk has it.
    package var bootMark: BootMark
    /// How many pages its chunks and nodes take.
    package var usedPages: UInt64

    package init(
        key: WrappedFileKey, chunkBits: UInt8 = FileFormat.usualChunkBits, isChangedInPlace: Bool = false,
        sequence: UInt64 = 1, length: UInt64, storedSize: UInt64, writeCount: UInt64, root: FileEntry?,
        bootMark: BootMark = BootMark(), usedPages: UInt64
    ) {
        self.key = key
        self.chunkBits = chunkBits
        self.isChangedInPlace = isChangedInPlace
        self.sequence = sequence
        self.length = length
        self.storedSize = storedSize
        self.writeCount = writeCount
        self.root = root
        self.bootMark = bootMark
        self.usedPages = usedPages
    }

    package typealias BootMark = InlineBytes<16>

    /// Whether the disk has everything that this refers to.
    package var isDurable: Bool { bootMark == BootMark() }

    /// Whether the system that has this mark has all of it, or the disk does.
    package func isKnown(to mark: BootMark) -> Bool { isDurable || bootMark == mark }

    package var tree: FileTree { FileTree(length: length, chunkBits: chunkBits) }
}

/// The two copies of the header in the first page of a protected file.
package struct FileHeaderPair: Sendable {
    package let newest: UnverifiedFileHeader
    /// An older header in the other slot; nil: the other slot says the same, or is not whole.
    package let former: UnverifiedFileHeader?
    /// A slot is not while it is being written, and after a crash in the midst of that.
    package let areBothWhole: Bool
}

// MARK: - One slot

/// A header as it was read, before its tag is checked.
package struct UnverifiedFileHeader: Sendable, Hashable {
    /// The claims of the bytes, unverified but in range.
    package let claimed: FileHeader
    fileprivate let bytes: Data

    /// The number of its slot.
    package var slot: Int { Int(bytes[FileFormat.slotNumberOffset]) }

    /// The header, if it was written with this key.
    ///
    /// - Throws: `.tampered`.
    package func verified(fileKey: KeyMaterial) throws(FileFormatError) -> FileHeader {
        defer { KeyTraces.eraseOfCipher() }
        let tag = FileHeader.tag(of: bytes.prefix(FileHeader.tagOffset), fileKey: fileKey, fileID: claimed.key.fileID)
        guard Keybag.isEqual(tag, bytes[FileHeader.tagOffset..<FileHeader.checksumOffset]) else {
            throw .tampered("its header was changed")
        }
        return claimed
    }
}

extension FileHeader {
    fileprivate static let tagOffset = 464
    fileprivate static let checksumOffset = 496
    private static let checksumByteCount = 16
    private static let rootOffset = 88
    private static let publicKeyOffset = 152
    private static let wrappedKeyOffset = 184
    private static let bootMarkOffset = 224
    private static let usedPagesOffset = 240
    private static let endOffset = 248

    /// A higher count is refused, because a writer counts on from the one in the file.
    private static let mostCounted: UInt64 = 1 << 62

    private enum WrapKind: UInt8 { case classKey = 1, keyPair = 2 }

    /// The 512 bytes of one of the two slots.
    package func encoded(fileKey: KeyMaterial, slot: Int) -> Data {
        defer { KeyTraces.eraseOfCipher() }
        var bytes = Data(count: FileFormat.slotByteCount)
        bytes.withUnsafeMutableBytes { bytes in
            encode(into: bytes, slot)
            fileKey.writeTag(
                of: UnsafeRawBufferPointer(rebasing: bytes[..<Self.tagOffset]), Self.tagLabel, KeyContext(key.fileID),
                to: UnsafeMutableRawBufferPointer(rebasing: bytes[Self.tagOffset..<Self.checksumOffset]))
            Self.writeChecksum(
                of: UnsafeRawBufferPointer(rebasing: bytes[..<Self.checksumOffset]),
                to: UnsafeMutableRawBufferPointer(rebasing: bytes[Self.checksumOffset...]))
        }
        return bytes
    }

    /// Encodes everything before the tag; fields without a value stay zero.
    private func encode(into bytes: UnsafeMutableRawBufferPointer, _ slot: Int) {
        func put(_ value: some FixedWidthInteger, at offset: Int) {
            bytes.storeBytes(of: value.bigEndian, toByteOffset: offset, as: type(of: value).self)
        }
        func put(_ data: Data, at offset: Int) {
            data.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).copyMemory(from: $0) }
        }
        bytes.copyBytes(from: FileFormat.magic)
        put(FileFormat.version(for: key.fileClass), at: 8)
        bytes[10] = FileFormat.suite
        bytes[11] = chunkBits
        bytes[12] = key.fileClass.rawValue
        bytes[13] = isChangedInPlace ? 1 : 0
        bytes[14] = (key.fileClass == .completeUnlessOpen ? WrapKind.keyPair : .classKey).rawValue
        bytes[FileFormat.slotNumberOffset] = UInt8(slot)
        bytes.storeBytes(of: key.fileID.uuid, toByteOffset: 16, as: uuid_t.self)
        bytes.storeBytes(of: key.storeID.uuid, toByteOffset: 32, as: uuid_t.self)
        put(key.generation, at: 48)
        put(sequence, at: 56)
        put(length, at: 64)
        put(storedSize, at: 72)
        put(writeCount, at: 80)
        root?.encode(into: UnsafeMutableRawBufferPointer(rebasing: bytes[Self.rootOffset..<Self.publicKeyOffset]))
        put(key.publicKey, at: Self.publicKeyOffset)
        put(key.wrappedKey, at: Self.wrappedKeyOffset)
        bootMark.copy(
            to: UnsafeMutableRawBufferPointer(rebasing: bytes[Self.bootMarkOffset..<Self.usedPagesOffset]))
        put(usedPages, at: Self.usedPagesOffset)
    }

    fileprivate static func tag(of bytes: Data, fileKey: KeyMaterial, fileID: UUID) -> Data {
        fileKey.tag(of: bytes, tagLabel, KeyContext(fileID))
    }

    private static let tagLabel = "file header 1"

    /// The mark by which a header names the system that wrote it.
    ///
    /// - Parameter bootID: Each start of the system has another one.
    package static func bootMark(of bootID: UUID, fileKey: KeyMaterial, fileID: UUID) -> BootMark {
        let id = withUnsafeBytes(of: bootID.uuid) { Data($0) }
        let tag = fileKey.tag(of: id, "file boot 1", KeyContext(fileID))
        return tag.prefix(16).withUnsafeBytes { InlineBytes($0) }
    }

    private static func checksum(of bytes: Data) -> Data {
        var checksum = Data(count: checksumByteCount)
        checksum.withUnsafeMutableBytes { checksum in bytes.withUnsafeBytes { writeChecksum(of: $0, to: checksum) } }
        return checksum
    }

    private static func writeChecksum(
        of bytes: UnsafeRawBufferPointer, to checksum: UnsafeMutableRawBufferPointer
    ) {
        withUnsafeTemporaryAllocation(byteCount: SHA256State.byteCount, alignment: 16) { digest in
            SHA256State.hash(bytes, into: digest)
            checksum.copyMemory(from: UnsafeRawBufferPointer(rebasing: digest[..<checksum.count]))
        }
    }

    /// The kinds of bytes that a slot can have.
    fileprivate enum Slot {
        /// The bytes are of no version.
        case foreign
        /// The slot was written by halves, or is damaged.
        case damaged
        case newerVersion(UInt16)
        case whole(Data)

        init(_ bytes: Data, number: Int) {
            guard bytes.starts(with: FileFormat.magic), bytes[FileFormat.slotNumberOffset] == number else {
                self = .foreign
                return
            }
            let version = FileHeader.version(of: bytes)
            // Later formats may have their checksum elsewhere. There will be no hundreds of them.
            if version > FileFormat.newestVersion && version <= 255 {
                self = .newerVersion(version)
            } else if version > 0, version <= FileFormat.newestVersion,
                FileHeader.checksum(of: bytes.prefix(FileHeader.checksumOffset))
                    == bytes[FileHeader.checksumOffset...]
            {
                self = .whole(bytes)
            } else {
                self = .damaged
            }
        }

        var whole: Data? { if case .whole(let bytes) = self { bytes } else { nil } }
        var sequence: UInt64 { whole?.bigEndian(at: 56) ?? 0 }
    }

    /// The header in use, of the two in a file's first page.
    ///
    /// - Parameter page: The first 4,096 bytes, or all there are if the file has fewer.
    package static func newest(in page: Data) throws(FileFormatError) -> UnverifiedFileHeader {
        try inFirstPage(page).newest
    }

    /// Reads both headers of the first page.
    ///
    /// - Parameter page: The first 4,096 bytes, or all there are if the file has fewer.
    package static func inFirstPage(_ page: Data) throws(FileFormatError) -> FileHeaderPair {
        let page = Data(page)  // indices from 0
        guard page.withUnsafeBytes(FileFormat.isProtected) else { throw .notProtected }
        guard page.count >= FileFormat.headerByteCount else { throw .truncated }
        let slots = slots(of: page)
        guard let newest = slots.filter({ $0.whole != nil }).max(by: { $0.sequence < $1.sequence }) else {
            let versions = slots.compactMap { if case .newerVersion(let version) = $0 { version } else { nil } }
            if let version = versions.max() { throw .newerFormat(version) }
            throw .tampered("neither copy of its header is whole")
        }
        let rivals = try slots.filter { $0.sequence == newest.sequence }.compactMap(\.whole).map(
            FileHeader.init(decoding:))
        guard let bytes = newest.whole, Set(rivals).count == 1 else {
            throw .tampered("the two copies of its header contradict each other")
        }
        // It counts only if the newest one does not: whether it is one at all is asked then.
        let older = slots.first { $0.whole != nil && $0.sequence < newest.sequence }?.whole
        return FileHeaderPair(
            newest: UnverifiedFileHeader(claimed: try FileHeader(decoding: bytes), bytes: bytes),
            former: older.flatMap { older in
                (try? FileHeader(decoding: older)).map { UnverifiedFileHeader(claimed: $0, bytes: older) }
            },
            areBothWhole: slots.allSatisfy { $0.whole != nil })
    }

    /// Which of the two copies of a header are whole and the same as the newest.
    package static func intactCopies(in page: Data) -> [Bool] {
        guard page.count >= FileFormat.headerByteCount else { return FileFormat.slotOffsets.map { _ in false } }
        let slots = slots(of: Data(page))
        let newest = slots.map(\.sequence).max()
        return slots.map { $0.whole != nil && $0.sequence == newest }
    }

    private static func slots(of page: Data) -> [Slot] {
        FileFormat.slotOffsets.enumerated().map { number, offset in
            Slot(Data(page[offset..<(offset + FileFormat.slotByteCount)]), number: number)
        }
    }

    private static func version(of bytes: Data) -> UInt16 { bytes.bigEndian(at: 8) }

    private init(decoding bytes: Data) throws(FileFormatError) {
        guard bytes[10] == FileFormat.suite, FileFormat.chunkBits.contains(bytes[11]),
            let fileClass = FileClass(rawValue: bytes[12]), bytes[13] <= 1, let kind = WrapKind(rawValue: bytes[14]),
            (kind == .keyPair) == (fileClass == .completeUnlessOpen),
            Self.version(of: bytes) == FileFormat.version(for: fileClass),
            bytes[52..<56].allSatisfy({ $0 == 0 }), bytes[Self.endOffset..<Self.tagOffset].allSatisfy({ $0 == 0 })
        else { throw .tampered("its header has values that are not defined") }
        let publicKey = Data(bytes[Self.publicKeyOffset..<Self.wrappedKeyOffset])
        guard kind == .keyPair || publicKey.allSatisfy({ $0 == 0 }) else {
            throw .tampered("its header has a public key that its class has no use for")
        }
        let root = try bytes[Self.rootOffset..<Self.publicKeyOffset].withUnsafeBytes { entry in
            Result { () throws(FileFormatError) in try FileEntry.decode(entry) }
        }.get()
        self.init(
            key: WrappedFileKey(
                fileID: UUID(bytes[16..<32]), storeID: UUID(bytes[32..<48]), fileClass: fileClass,
                generation: bytes.bigEndian(at: 48), publicKey: kind == .keyPair ? publicKey : Data(),
                wrappedKey: Data(bytes[Self.wrappedKeyOffset..<Self.bootMarkOffset])),
            chunkBits: bytes[11], isChangedInPlace: bytes[13] & 1 != 0, sequence: bytes.bigEndian(at: 56),
            length: bytes.bigEndian(at: 64), storedSize: bytes.bigEndian(at: 72), writeCount: bytes.bigEndian(at: 80),
            root: root,
            bootMark: bytes[Self.bootMarkOffset..<Self.usedPagesOffset].withUnsafeBytes { InlineBytes($0) },
            usedPages: bytes.bigEndian(at: Self.usedPagesOffset))
        guard (1..<Self.mostCounted).contains(sequence), writeCount < Self.mostCounted,
            length <= FileFormat.mostContent,
            storedSize <= FileFormat.mostContent * 2,
            storedSize >= FileFormat.headerByteCount, length > 0 || root == nil,
            usedPages <= storedSize / UInt64(FileFormat.pageSize)
        else { throw .tampered("its header has values that are out of range") }
    }
}

extension Data {
    /// - Parameter offset: The offset from the first byte, which has the index 0.
    fileprivate func bigEndian<T: FixedWidthInteger>(at offset: Int, as type: T.Type = T.self) -> T {
        withUnsafeBytes { T(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self)) }
    }
}

extension UUID {
    /// - Parameter bytes: 16 of them.
    fileprivate init(_ bytes: Data) {
        self.init(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }
}
