// The functions of CCryptoBoringSSL for keys in files, declared as in BoringSSL.swift. A function returns 1 on success,
// unless it returns a pointer, which is nil on failure.

// MARK: Keys under a passphrase

@_extern(c) func CCryptoBoringSSL_PKCS5_PBKDF2_HMAC(
    _ password: UnsafePointer<CChar>?, _ passwordCount: Int, _ salt: UnsafePointer<UInt8>?, _ saltCount: Int,
    _ iterations: UInt32, _ algorithm: OpaquePointer, _ keyCount: Int, _ key: UnsafeMutablePointer<UInt8>?
) -> CInt

@_extern(c) func CCryptoBoringSSL_HMAC(
    _ algorithm: OpaquePointer, _ key: UnsafeRawPointer?, _ keyCount: Int, _ bytes: UnsafePointer<UInt8>?, _ count: Int,
    _ code: UnsafeMutablePointer<UInt8>?, _ codeCount: UnsafeMutablePointer<CUnsignedInt>?
) -> UnsafeMutablePointer<UInt8>?

@_extern(c) func CCryptoBoringSSL_EVP_aes_128_cbc() -> OpaquePointer
@_extern(c) func CCryptoBoringSSL_EVP_aes_192_cbc() -> OpaquePointer
@_extern(c) func CCryptoBoringSSL_EVP_aes_256_cbc() -> OpaquePointer
@_extern(c) func CCryptoBoringSSL_EVP_des_ede3_cbc() -> OpaquePointer
@_extern(c) func CCryptoBoringSSL_EVP_des_ede_cbc() -> OpaquePointer
@_extern(c) func CCryptoBoringSSL_EVP_rc2_cbc() -> OpaquePointer
@_extern(c) func CCryptoBoringSSL_EVP_rc2_40_cbc() -> OpaquePointer
@_extern(c) func CCryptoBoringSSL_EVP_rc4() -> OpaquePointer

@_extern(c) func CCryptoBoringSSL_EVP_CIPHER_CTX_new() -> OpaquePointer?
@_extern(c) func CCryptoBoringSSL_EVP_CIPHER_CTX_free(_ context: OpaquePointer?)
@_extern(c) func CCryptoBoringSSL_EVP_CIPHER_CTX_set_key_length(
    _ context: OpaquePointer, _ count: CUnsignedInt
) -> CInt

/// - Parameter encrypts: 0 decrypts.
@_extern(c) func CCryptoBoringSSL_EVP_CipherInit_ex(
    _ context: OpaquePointer, _ cipher: OpaquePointer?, _ engine: OpaquePointer?, _ key: UnsafePointer<UInt8>?,
    _ initial: UnsafePointer<UInt8>?, _ encrypts: CInt
) -> CInt
@_extern(c) func CCryptoBoringSSL_EVP_CipherUpdate(
    _ context: OpaquePointer, _ out: UnsafeMutablePointer<UInt8>?, _ outCount: UnsafeMutablePointer<CInt>,
    _ bytes: UnsafePointer<UInt8>?, _ count: CInt
) -> CInt
@_extern(c) func CCryptoBoringSSL_EVP_CipherFinal_ex(
    _ context: OpaquePointer, _ out: UnsafeMutablePointer<UInt8>?, _ outCount: UnsafeMutablePointer<CInt>
) -> CInt

// MARK: Numbers of keys

@_extern(c) func CCryptoBoringSSL_BN_bin2bn(
    _ bytes: UnsafePointer<UInt8>?, _ count: Int, _ number: OpaquePointer?
) -> OpaquePointer?
@_extern(c) func CCryptoBoringSSL_BN_bn2bin(_ number: OpaquePointer, _ bytes: UnsafeMutablePointer<UInt8>?) -> Int
@_extern(c) func CCryptoBoringSSL_BN_num_bytes(_ number: OpaquePointer) -> CUnsignedInt
@_extern(c) func CCryptoBoringSSL_BN_sub_word(_ number: OpaquePointer, _ word: UInt64) -> CInt
@_extern(c) func CCryptoBoringSSL_BN_div(
    _ quotient: OpaquePointer?, _ remainder: OpaquePointer?, _ number: OpaquePointer, _ divisor: OpaquePointer,
    _ context: OpaquePointer
) -> CInt
@_extern(c) func CCryptoBoringSSL_BN_CTX_new() -> OpaquePointer?
@_extern(c) func CCryptoBoringSSL_BN_CTX_free(_ context: OpaquePointer?)
