// The functions of CCryptoBoringSSL for RSA, digests and Ed25519 (docs/decisions/036-keys-through-boringssl.md), declared as
// in BoringSSL.swift of KeychainCrypto. A function returns 1 on success, unless it returns a pointer, which is nil on failure.

// MARK: Digests

@_extern(c) func CCryptoBoringSSL_EVP_sha1() -> OpaquePointer
@_extern(c) func CCryptoBoringSSL_EVP_sha224() -> OpaquePointer
@_extern(c) func CCryptoBoringSSL_EVP_sha256() -> OpaquePointer
@_extern(c) func CCryptoBoringSSL_EVP_sha384() -> OpaquePointer
@_extern(c) func CCryptoBoringSSL_EVP_sha512() -> OpaquePointer

@_extern(c) func CCryptoBoringSSL_EVP_Digest(
    _ bytes: UnsafeRawPointer?, _ count: Int, _ digest: UnsafeMutablePointer<UInt8>?,
    _ digestCount: UnsafeMutablePointer<CUnsignedInt>?, _ algorithm: OpaquePointer, _ engine: OpaquePointer?
) -> CInt

// MARK: RSA

@_extern(c) func CCryptoBoringSSL_RSA_new() -> OpaquePointer?
@_extern(c) func CCryptoBoringSSL_RSA_free(_ key: OpaquePointer?)
@_extern(c) func CCryptoBoringSSL_RSA_bits(_ key: OpaquePointer) -> CUnsignedInt
@_extern(c) func CCryptoBoringSSL_RSA_size(_ key: OpaquePointer) -> CUnsignedInt

@_extern(c) func CCryptoBoringSSL_RSA_generate_key_ex(
    _ key: OpaquePointer, _ bits: CInt, _ exponent: OpaquePointer, _ progress: OpaquePointer?
) -> CInt

@_extern(c) func CCryptoBoringSSL_RSA_public_key_from_bytes(
    _ bytes: UnsafePointer<UInt8>?, _ count: Int
) -> OpaquePointer?

@_extern(c) func CCryptoBoringSSL_RSA_private_key_from_bytes(
    _ bytes: UnsafePointer<UInt8>?, _ count: Int
) -> OpaquePointer?

@_extern(c) func CCryptoBoringSSL_RSA_public_key_to_bytes(
    _ bytes: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, _ count: UnsafeMutablePointer<Int>,
    _ key: OpaquePointer
) -> CInt

@_extern(c) func CCryptoBoringSSL_RSA_private_key_to_bytes(
    _ bytes: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, _ count: UnsafeMutablePointer<Int>,
    _ key: OpaquePointer
) -> CInt

@_extern(c) func CCryptoBoringSSL_RSA_encrypt(
    _ key: OpaquePointer, _ outCount: UnsafeMutablePointer<Int>, _ out: UnsafeMutablePointer<UInt8>?, _ capacity: Int,
    _ bytes: UnsafePointer<UInt8>?, _ count: Int, _ padding: CInt
) -> CInt

@_extern(c) func CCryptoBoringSSL_RSA_decrypt(
    _ key: OpaquePointer, _ outCount: UnsafeMutablePointer<Int>, _ out: UnsafeMutablePointer<UInt8>?, _ capacity: Int,
    _ bytes: UnsafePointer<UInt8>?, _ count: Int, _ padding: CInt
) -> CInt

@_extern(c) func CCryptoBoringSSL_RSA_sign_raw(
    _ key: OpaquePointer, _ outCount: UnsafeMutablePointer<Int>, _ out: UnsafeMutablePointer<UInt8>?, _ capacity: Int,
    _ bytes: UnsafePointer<UInt8>?, _ count: Int, _ padding: CInt
) -> CInt

@_extern(c) func CCryptoBoringSSL_RSA_verify_raw(
    _ key: OpaquePointer, _ outCount: UnsafeMutablePointer<Int>, _ out: UnsafeMutablePointer<UInt8>?, _ capacity: Int,
    _ bytes: UnsafePointer<UInt8>?, _ count: Int, _ padding: CInt
) -> CInt

@_extern(c) func CCryptoBoringSSL_RSA_sign(
    _ digestNumber: CInt, _ digest: UnsafePointer<UInt8>?, _ digestCount: Int, _ out: UnsafeMutablePointer<UInt8>?,
    _ outCount: UnsafeMutablePointer<CUnsignedInt>, _ key: OpaquePointer
) -> CInt

@_extern(c) func CCryptoBoringSSL_RSA_verify(
    _ digestNumber: CInt, _ digest: UnsafePointer<UInt8>?, _ digestCount: Int, _ signature: UnsafePointer<UInt8>?,
    _ signatureCount: Int, _ key: OpaquePointer
) -> CInt

@_extern(c) func CCryptoBoringSSL_RSA_sign_pss_mgf1(
    _ key: OpaquePointer, _ outCount: UnsafeMutablePointer<Int>, _ out: UnsafeMutablePointer<UInt8>?, _ capacity: Int,
    _ digest: UnsafePointer<UInt8>?, _ digestCount: Int, _ algorithm: OpaquePointer, _ mask: OpaquePointer?,
    _ saltCount: CInt
) -> CInt

@_extern(c) func CCryptoBoringSSL_RSA_verify_pss_mgf1(
    _ key: OpaquePointer, _ digest: UnsafePointer<UInt8>?, _ digestCount: Int, _ algorithm: OpaquePointer,
    _ mask: OpaquePointer?, _ saltCount: CInt, _ signature: UnsafePointer<UInt8>?, _ signatureCount: Int
) -> CInt

/// The private exponent, which belongs to the key.
@_extern(c) func CCryptoBoringSSL_RSA_get0_d(_ key: OpaquePointer) -> OpaquePointer?

@_extern(c) func CCryptoBoringSSL_BN_new() -> OpaquePointer?
@_extern(c) func CCryptoBoringSSL_BN_free(_ number: OpaquePointer?)
@_extern(c) func CCryptoBoringSSL_BN_set_u64(_ number: OpaquePointer, _ value: UInt64) -> CInt
/// Writes a number in so many bytes.
@_extern(c) func CCryptoBoringSSL_BN_bn2bin_padded(
    _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int, _ number: OpaquePointer
) -> CInt

// MARK: OAEP, and public keys in the form of certificates

@_extern(c) func CCryptoBoringSSL_EVP_PKEY_new() -> OpaquePointer?
@_extern(c) func CCryptoBoringSSL_EVP_PKEY_free(_ key: OpaquePointer?)
@_extern(c) func CCryptoBoringSSL_EVP_PKEY_set1_RSA(_ key: OpaquePointer, _ rsa: OpaquePointer) -> CInt
@_extern(c) func CCryptoBoringSSL_EVP_PKEY_get1_RSA(_ key: OpaquePointer) -> OpaquePointer?
/// Takes a `CBS`, and moves it behind the bytes that were read.
@_extern(c) func CCryptoBoringSSL_EVP_parse_public_key(_ bytes: UnsafeMutableRawPointer) -> OpaquePointer?
@_extern(c) func CCryptoBoringSSL_EVP_PKEY_CTX_new(_ key: OpaquePointer, _ engine: OpaquePointer?) -> OpaquePointer?
@_extern(c) func CCryptoBoringSSL_EVP_PKEY_CTX_free(_ context: OpaquePointer?)
@_extern(c) func CCryptoBoringSSL_EVP_PKEY_CTX_set_rsa_padding(_ context: OpaquePointer, _ padding: CInt) -> CInt
@_extern(c) func CCryptoBoringSSL_EVP_PKEY_CTX_set_rsa_oaep_md(
    _ context: OpaquePointer, _ algorithm: OpaquePointer
) -> CInt
@_extern(c) func CCryptoBoringSSL_EVP_PKEY_CTX_set_rsa_mgf1_md(
    _ context: OpaquePointer, _ algorithm: OpaquePointer
) -> CInt
@_extern(c) func CCryptoBoringSSL_EVP_PKEY_encrypt_init(_ context: OpaquePointer) -> CInt
@_extern(c) func CCryptoBoringSSL_EVP_PKEY_encrypt(
    _ context: OpaquePointer, _ out: UnsafeMutablePointer<UInt8>?, _ outCount: UnsafeMutablePointer<Int>,
    _ bytes: UnsafePointer<UInt8>?, _ count: Int
) -> CInt
@_extern(c) func CCryptoBoringSSL_EVP_PKEY_decrypt_init(_ context: OpaquePointer) -> CInt
@_extern(c) func CCryptoBoringSSL_EVP_PKEY_decrypt(
    _ context: OpaquePointer, _ out: UnsafeMutablePointer<UInt8>?, _ outCount: UnsafeMutablePointer<Int>,
    _ bytes: UnsafePointer<UInt8>?, _ count: Int
) -> CInt

// MARK: Ed25519

/// - Parameters:
///   - signature: 64 bytes.
///   - key: 32 bytes.
@_extern(c) func CCryptoBoringSSL_ED25519_verify(
    _ message: UnsafePointer<UInt8>?, _ count: Int, _ signature: UnsafePointer<UInt8>, _ key: UnsafePointer<UInt8>
) -> CInt
