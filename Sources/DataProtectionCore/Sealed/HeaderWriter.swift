internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainSystem

/// The writer of headers. Every header of every protected file is written here.
struct HeaderWriter {
    let file: Int32
    let path: String
    let fileKey: KeyMaterial
    let files: any FileSystem

    /// Writes a header over a slot.
    ///
    /// - Returns: The bytes of the slot.
    @discardableResult
    func write(_ header: FileHeader, slot: Int) throws(DataProtectionError) -> Data {
        let bytes = header.encoded(fileKey: fileKey, slot: slot)
        try bytes.withBytes { (bytes) throws(DataProtectionError) in
            try files.writeAll(bytes, to: file, at: UInt64(FileFormat.slotOffsets[slot]), path)
        }
        return bytes
    }

    /// Writes the first page of a file, with a header in both slots.
    func writePage(_ header: FileHeader) throws(DataProtectionError) {
        try Self.page(header, fileKey).withBytes { (page) throws(DataProtectionError) in
            try files.writeAll(page, to: file, at: 0, path)
        }
    }

    /// The first page of a file that has a header in both slots.
    static func page(_ header: FileHeader, _ fileKey: KeyMaterial) -> Data {
        var page = Data(count: FileFormat.headerByteCount)
        for (number, offset) in FileFormat.slotOffsets.enumerated() {
            let slot = header.encoded(fileKey: fileKey, slot: number)
            page.replaceSubrange(offset..<(offset + slot.count), with: slot)
        }
        return page
    }
}
