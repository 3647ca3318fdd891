internal import KeychainModel

/// The place of a chunk or a node of a protected file, and its nonce and tag.
package struct FileEntry: Sendable, Hashable {
    package static let byteCount = FileFormat.entryByteCount

    /// Pages from the start of the file.
    package var page: UInt64
    package var writeCount: UInt64
    /// The length in bytes.
    package var length: UInt32
    package var nonce: InlineBytes<12>
    package var tag: InlineBytes<16>

    package init(
        page: UInt64, writeCount: UInt64, length: UInt32, nonce: InlineBytes<12> = .init(),
        tag: InlineBytes<16> = .init()
    ) {
        self.page = page
        self.writeCount = writeCount
        self.length = length
        self.nonce = nonce
        self.tag = tag
    }

    package var offset: UInt64 { page * UInt64(FileFormat.pageSize) }

    /// - Parameter bytes: 64 of them.
    package func encode(into bytes: UnsafeMutableRawBufferPointer) {
        precondition(bytes.count == Self.byteCount)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.storeBytes(of: page.bigEndian, toByteOffset: 0, as: UInt64.self)
        bytes.storeBytes(of: writeCount.bigEndian, toByteOffset: 8, as: UInt64.self)
        bytes.storeBytes(of: length.bigEndian, toByteOffset: 16, as: UInt32.self)
        nonce.copy(to: UnsafeMutableRawBufferPointer(rebasing: bytes[24..<36]))
        tag.copy(to: UnsafeMutableRawBufferPointer(rebasing: bytes[36..<52]))
    }

    /// Reads 64 bytes, which need not be those of an entry.
    ///
    /// - Returns: nil for a hole: all content below is zeros.
    package static func decode(_ bytes: UnsafeRawBufferPointer) throws(FileFormatError) -> FileEntry? {
        precondition(bytes.count == byteCount)
        // Nearly always the first word says it.
        if bytes.loadUnaligned(as: UInt64.self) == 0 && bytes.allSatisfy({ $0 == 0 }) { return nil }
        let entry = FileEntry(
            page: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            writeCount: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            length: UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)),
            nonce: InlineBytes(UnsafeRawBufferPointer(rebasing: bytes[24..<36])),
            tag: InlineBytes(UnsafeRawBufferPointer(rebasing: bytes[36..<52])))
        guard bytes[20..<24].allSatisfy({ $0 == 0 }), bytes[52...].allSatisfy({ $0 == 0 }) else {
            throw .tampered("an entry has bytes that are not defined")
        }
        return entry
    }
}

/// A fixed number of bytes where they are declared.
package struct InlineBytes<let count: Int>: Sendable, Hashable {
    private var storage: InlineArray<count, UInt8>

    package init() { storage = InlineArray(repeating: 0) }

    package init(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == count)
        storage = InlineArray { bytes[$0] }
    }

    package func copy(to bytes: UnsafeMutableRawBufferPointer) {
        withUnsafeBytes { bytes.copyMemory(from: $0) }
    }

    package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try Swift.withUnsafeBytes(of: storage) { bytes throws(E) in try body(bytes) }
    }

    package mutating func withUnsafeMutableBytes<R, E: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try Swift.withUnsafeMutableBytes(of: &storage) { bytes throws(E) in try body(bytes) }
    }

    package static func == (a: InlineBytes, b: InlineBytes) -> Bool {
        a.withUnsafeBytes { a in b.withUnsafeBytes { a.hasSameBytes(as: $0) } }
    }

    package func hash(into hasher: inout Hasher) { withUnsafeBytes { hasher.combine(bytes: $0) } }
}
