internal import KeychainCrypto

/// A cipher of files that are under a passphrase: RC4, and all others in CBC mode with the padding of PKCS#7. No cipher
/// here authenticates its text. All but AES are for files that others wrote long ago.
enum PassphraseCipher: Sendable {
    case aes128, aes192, aes256
    case tripleDES, tripleDESWithTwoKeys
    case rc2With128Bits, rc2With40Bits
    case rc4With128Bits, rc4With40Bits

    var keyByteCount: Int {
        switch self {
        case .aes256: 32
        case .aes192, .tripleDES: 24
        case .aes128, .tripleDESWithTwoKeys, .rc2With128Bits, .rc4With128Bits: 16
        case .rc2With40Bits, .rc4With40Bits: 5
        }
    }

    /// The size of a block, and of the value that the first block is chained to.
    var initialByteCount: Int {
        switch self {
        case .aes128, .aes192, .aes256: 16
        case .tripleDES, .tripleDESWithTwoKeys, .rc2With128Bits, .rc2With40Bits: 8
        case .rc4With128Bits, .rc4With40Bits: 0
        }
    }

    /// `EVP_CIPHER`, which is never freed.
    private var function: OpaquePointer {
        switch self {
        case .aes128: CCryptoBoringSSL_EVP_aes_128_cbc()
        case .aes192: CCryptoBoringSSL_EVP_aes_192_cbc()
        case .aes256: CCryptoBoringSSL_EVP_aes_256_cbc()
        case .tripleDES: CCryptoBoringSSL_EVP_des_ede3_cbc()
        case .tripleDESWithTwoKeys: CCryptoBoringSSL_EVP_des_ede_cbc()
        case .rc2With128Bits: CCryptoBoringSSL_EVP_rc2_cbc()
        case .rc2With40Bits: CCryptoBoringSSL_EVP_rc2_40_cbc()
        case .rc4With128Bits, .rc4With40Bits: CCryptoBoringSSL_EVP_rc4()
        }
    }

    /// - Returns: nil if the bytes are no whole blocks or have no padding.
    func decrypt(_ bytes: [UInt8], key: UnsafeRawBufferPointer, initial: [UInt8]) -> [UInt8]? {
        run(bytes, key, initial, encrypts: 0)
    }

    /// - Returns: nil without memory.
    func encrypt(_ bytes: [UInt8], key: UnsafeRawBufferPointer, initial: [UInt8]) -> [UInt8]? {
        run(bytes, key, initial, encrypts: 1)
    }

    private func run(
        _ bytes: [UInt8], _ key: UnsafeRawBufferPointer, _ initial: [UInt8], encrypts: CInt
    ) -> [UInt8]? {
        guard key.count == keyByteCount, initial.count == initialByteCount, bytes.count < CInt.max - 64,
            // It erases the key when it is freed.
            let context = CCryptoBoringSSL_EVP_CIPHER_CTX_new()
        else { return nil }
        defer { CCryptoBoringSSL_EVP_CIPHER_CTX_free(context) }
        var result = [UInt8](repeating: 0, count: bytes.count + initialByteCount)
        var (count, lastCount): (CInt, CInt) = (0, 0)
        let isDone = LibraryOutput.leavingNoErrors {
            result.withUnsafeMutableBufferPointer { out in
                CCryptoBoringSSL_EVP_CipherInit_ex(context, function, nil, nil, nil, encrypts) == 1
                    && CCryptoBoringSSL_EVP_CIPHER_CTX_set_key_length(context, CUnsignedInt(key.count)) == 1
                    && CCryptoBoringSSL_EVP_CipherInit_ex(context, nil, nil, key.octets, initial, encrypts) == 1
                    && CCryptoBoringSSL_EVP_CipherUpdate(context, out.baseAddress, &count, bytes, CInt(bytes.count))
                        == 1
                    && CCryptoBoringSSL_EVP_CipherFinal_ex(context, out.baseAddress.map { $0 + Int(count) }, &lastCount)
                        == 1
            }
        }
        guard isDone else { return nil }
        result.removeLast(result.count - Int(count + lastCount))
        return result
    }
}
