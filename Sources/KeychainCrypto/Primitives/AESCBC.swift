/// AES in CBC mode with the padding of PKCS#7, for keys in files of others. It authenticates nothing.
enum AESCBC {
    static let blockByteCount = 16

    /// - Parameters:
    ///   - key: 16, 24 or 32 bytes.
    ///   - initial: A block.
    /// - Returns: nil for what are no whole blocks or no padding.
    static func decrypt(_ bytes: [UInt8], key: UnsafeRawBufferPointer, initial: [UInt8]) -> [UInt8]? {
        guard !bytes.isEmpty, bytes.count % blockByteCount == 0, initial.count == blockByteCount else { return nil }
        var (initial, plaintext) = (initial, [UInt8](repeating: 0, count: bytes.count))
        let isDone = LibraryState.with(byteCount: LibraryState.schedule) { schedule in
            guard CCryptoBoringSSL_AES_set_decrypt_key(key.octets, CUnsignedInt(8 * key.count), schedule) == 0 else {
                return false
            }
            CCryptoBoringSSL_AES_cbc_encrypt(bytes, &plaintext, bytes.count, schedule, &initial, 0)
            return true
        }
        guard isDone, let last = plaintext.last, 1...blockByteCount ~= Int(last),
            plaintext.suffix(Int(last)).allSatisfy({ $0 == last })
        else { return nil }
        return Array(plaintext.dropLast(Int(last)))
    }
}
