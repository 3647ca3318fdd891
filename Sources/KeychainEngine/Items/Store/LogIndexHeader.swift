internal import KeychainModel

/// The beginning of the file `keychain.db-shm`, in which SQLite says how much of the log is committed
/// (sqlite.org/walformat.html, section 2.1). It is written after the log was synced, so what it claims was on the disk.
///
/// SQLite makes it anew when nobody has the database open, and so does not ask what the last process left there.
struct LogIndexHeader {
    /// How many frames of the log are committed.
    let frames: Int
    let salts: WriteAheadLog.Salts

    private static let size = 48

    /// nil if there is none, or it is not intact.
    init?(_ file: FileBytes) {
        // Twice the same, so that a reader notices a write under way.
        guard let copies = file.bytes(at: 0, count: 2 * Self.size),
            copies.prefix(Self.size).elementsEqual(copies.suffix(Self.size))
        else { return nil }
        let header = copies.withUnsafeBytes { bytes -> (frames: Int, salts: WriteAheadLog.Salts)? in
            // In the byte order of the machine, but for the salts, which are as they stand in the log.
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
