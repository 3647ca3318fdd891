/// The beginning of the file `keychain.db-shm`, in which SQLite says how much of the log is committed
/// (sqlite.org/walformat.html, section 2.1). SQLite writes it after the sync of the log, so the frames that it counts
/// were on the disk.
///
/// SQLite ignores and rewrites it if no process has the database open.
struct LogIndexHeader {
    /// The number of committed frames of the log.
    let frames: Int
    let salts: WriteAheadLog.Salts

    private static let size = 48

    /// nil if the header is missing or damaged.
    init?(_ file: FileBytes) {
        // SQLite stores the header twice, so that a reader notices a write under way.
        guard let copies = file.bytes(at: 0, count: 2 * Self.size),
            copies.prefix(Self.size).elementsEqual(copies.suffix(Self.size))
        else { return nil }
        let header = copies.withUnsafeBytes { bytes -> (frames: Int, salts: WriteAheadLog.Salts)? in
            // The words are in the byte order of the machine, but for the salts, which are as in the log.
            func native(_ offset: Int) -> UInt32 { bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
            var computed = WriteAheadLog.Checksum(first: 0, second: 0)
            computed.add(UnsafeRawBufferPointer(rebasing: bytes[..<40]), isBigEndian: UInt32(1).bigEndian == 1)
            let isInitialised = bytes[12] == 1
            guard native(0) == 3_007_000, isInitialised,
                computed == WriteAheadLog.Checksum(first: native(40), second: native(44))
            else { return nil }
            return (Int(native(16)), WriteAheadLog.Salts(first: bytes.word(32), second: bytes.word(36)))
        }
        guard let header else { return nil }
        (frames, salts) = header
    }
}
