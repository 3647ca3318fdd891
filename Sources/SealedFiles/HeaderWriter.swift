package import FoundationEssentials
package import KeychainCrypto
package import KeychainSystem

/// The writer of headers. Every header of every protected file is written here.
package struct HeaderWriter {
    package let file: Int32
    package let path: String
    package let fileKey: KeyMaterial
    package let files: any FileSystem

    package init(file: Int32, path: String, fileKey: KeyMaterial, files: any FileSystem) {
        self.file = file
        self.path = path
        self.fileKey = fileKey
        self.files = files
    }

    /// Writes a header over a slot.
    ///
    /// - Returns: The bytes of the slot.
    @discardableResult
    package func write(_ header: FileHeader, slot: Int) throws(DataProtectionError) -> Data {
        let bytes = header.encoded(fileKey: fileKey, slot: slot)
        try bytes.withBytes { (bytes) throws(DataProtectionError) in
            try files.writeAll(bytes, to: file, at: UInt64(FileFormat.slotOffsets[slot]), path)
        }
        return bytes
    }

    /// Writes the first page of a file, with a header in both slots.
    package func writePage(_ header: FileHeader) throws(DataProtectionError) {
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
