internal import KeychainModel
internal import KeychainSystem

/// Plaintext with its true length hidden: four bytes of length (little-endian), the bytes, then zeros.
enum PaddedBytes {
    private static let prefix = 4

    static func paddedCount(_ count: Int, multiple: Int) -> Int {
        (prefix + count + multiple - 1) / multiple * multiple
    }

    /// Calls `body` with the padded form, which is erased afterwards.
    static func withPadded<R>(
        _ bytes: UnsafeRawBufferPointer, multiple: Int, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        let total = paddedCount(bytes.count, multiple: multiple)
        return try withUnsafeTemporaryAllocation(byteCount: total, alignment: 16) { padded in
            defer { ckeychain_erase(padded.baseAddress, total) }
            padded.storeBytes(of: UInt32(bytes.count).littleEndian, as: UInt32.self)
            let end = prefix + bytes.count
            UnsafeMutableRawBufferPointer(rebasing: padded[prefix..<end]).copyMemory(from: bytes)
            UnsafeMutableRawBufferPointer(rebasing: padded[end...]).initializeMemory(as: UInt8.self, repeating: 0)
            return try body(UnsafeRawBufferPointer(padded))
        }
    }

    /// The bytes within a padded form.
    ///
    /// - Throws: `.decode` if the length does not fit, or anything but zeros follows.
    static func content(of padded: UnsafeRawBufferPointer) throws(KeychainError) -> UnsafeRawBufferPointer {
        guard padded.count >= prefix else { throw malformed }
        let count = Int(UInt32(littleEndian: padded.loadUnaligned(as: UInt32.self)))
        guard count <= padded.count - prefix else { throw malformed }
        let end = prefix + count
        guard padded[end...].allSatisfy({ $0 == 0 }) else { throw malformed }
        return UnsafeRawBufferPointer(rebasing: padded[prefix..<end])
    }

    private static var malformed: KeychainError {
        KeychainError(.decode, message: "the padding of a stored item is not valid")
    }
}
