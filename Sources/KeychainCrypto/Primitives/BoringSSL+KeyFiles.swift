// The functions of CCryptoBoringSSL for keys in files, declared as in BoringSSL.swift. A function returns 1 on success,
// unless it returns a pointer, which is nil on failure.

// MARK: Keys under a passphrase

@_extern(c) func CCryptoBoringSSL_PKCS5_PBKDF2_HMAC(
    _ password: UnsafePointer<CChar>?, _ passwordCount: Int, _ salt: UnsafePointer<UInt8>?, _ saltCount: Int,
    _ iterations: UInt32, _ algorithm: OpaquePointer, _ keyCount: Int, _ key: UnsafeMutablePointer<UInt8>?
) -> CInt

/// - Parameter encrypts: 0 decrypts.
@_extern(c) func CCryptoBoringSSL_AES_cbc_encrypt(
    _ bytes: UnsafePointer<UInt8>?, _ out: UnsafeMutablePointer<UInt8>?, _ count: Int, _ schedule: UnsafeRawPointer,
    _ initial: UnsafeMutablePointer<UInt8>?, _ encrypts: CInt)

// MARK: Numbers of keys

/// Takes a `CBS`, and moves it behind what was read. A point that is not there is computed.
@_extern(c) func CCryptoBoringSSL_EC_KEY_parse_private_key(
    _ bytes: UnsafeMutableRawPointer, _ group: OpaquePointer?
) -> OpaquePointer?

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
