internal import KeychainSystem

// The functions of CCryptoBoringSSL that keys go through (docs/decisions/009-boringssl-for-keys.md), declared here and not
// imported (docs/decisions/026-c-by-declared-symbols.md). The C target CKeychainCrypto is compiled only if the library has
// them with these types, and its structures are no larger than the memory that is given to them here.

/// Memory for a structure of the library, on the stack for the length of a closure, and erased.
package enum LibraryState {
    /// `EVP_AEAD_CTX`.
    static let cipher = 640
    /// `AES_KEY`.
    static let schedule = 256

    package static func with<R>(byteCount: Int, _ body: (UnsafeMutableRawPointer) -> R) -> R {
        withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 16) { memory in
            let state = memory.baseAddress!  // never empty
            defer { ckeychain_erase(state, byteCount) }
            return body(state)
        }
    }
}

@_extern(c) func CCryptoBoringSSL_EVP_aead_aes_256_gcm() -> OpaquePointer

@_extern(c) func CCryptoBoringSSL_EVP_AEAD_CTX_init(
    _ context: UnsafeMutableRawPointer, _ cipher: OpaquePointer, _ key: UnsafePointer<UInt8>?, _ keyCount: Int,
    _ tagCount: Int, _ engine: OpaquePointer?
) -> CInt

@_extern(c) func CCryptoBoringSSL_EVP_AEAD_CTX_cleanup(_ context: UnsafeMutableRawPointer)

@_extern(c) func CCryptoBoringSSL_EVP_AEAD_CTX_seal(
    _ context: UnsafeRawPointer, _ sealed: UnsafeMutablePointer<UInt8>?, _ sealedCount: UnsafeMutablePointer<Int>,
    _ capacity: Int, _ nonce: UnsafePointer<UInt8>?, _ nonceCount: Int, _ plaintext: UnsafePointer<UInt8>?,
    _ plaintextCount: Int, _ associated: UnsafePointer<UInt8>?, _ associatedCount: Int
) -> CInt

@_extern(c) func CCryptoBoringSSL_EVP_AEAD_CTX_open(
    _ context: UnsafeRawPointer, _ plaintext: UnsafeMutablePointer<UInt8>?, _ plaintextCount: UnsafeMutablePointer<Int>,
    _ capacity: Int, _ nonce: UnsafePointer<UInt8>?, _ nonceCount: Int, _ sealed: UnsafePointer<UInt8>?,
    _ sealedCount: Int, _ associated: UnsafePointer<UInt8>?, _ associatedCount: Int
) -> CInt

@_extern(c) func CCryptoBoringSSL_EVP_AEAD_CTX_seal_scatter(
    _ context: UnsafeRawPointer, _ ciphertext: UnsafeMutablePointer<UInt8>?, _ tag: UnsafeMutablePointer<UInt8>?,
    _ tagCount: UnsafeMutablePointer<Int>, _ tagCapacity: Int, _ nonce: UnsafePointer<UInt8>?, _ nonceCount: Int,
    _ plaintext: UnsafePointer<UInt8>?, _ plaintextCount: Int, _ extra: UnsafePointer<UInt8>?, _ extraCount: Int,
    _ associated: UnsafePointer<UInt8>?, _ associatedCount: Int
) -> CInt

@_extern(c) func CCryptoBoringSSL_EVP_AEAD_CTX_open_gather(
    _ context: UnsafeRawPointer, _ plaintext: UnsafeMutablePointer<UInt8>?, _ nonce: UnsafePointer<UInt8>?,
    _ nonceCount: Int, _ ciphertext: UnsafePointer<UInt8>?, _ ciphertextCount: Int, _ tag: UnsafePointer<UInt8>?,
    _ tagCount: Int, _ associated: UnsafePointer<UInt8>?, _ associatedCount: Int
) -> CInt

@_extern(c) func CCryptoBoringSSL_AES_set_encrypt_key(
    _ key: UnsafePointer<UInt8>?, _ bits: CUnsignedInt, _ schedule: UnsafeMutableRawPointer
) -> CInt

@_extern(c) func CCryptoBoringSSL_AES_set_decrypt_key(
    _ key: UnsafePointer<UInt8>?, _ bits: CUnsignedInt, _ schedule: UnsafeMutableRawPointer
) -> CInt

@_extern(c) func CCryptoBoringSSL_AES_wrap_key(
    _ schedule: UnsafeRawPointer, _ initial: UnsafePointer<UInt8>?, _ wrapped: UnsafeMutablePointer<UInt8>?,
    _ key: UnsafePointer<UInt8>?, _ keyCount: Int
) -> CInt

@_extern(c) func CCryptoBoringSSL_AES_unwrap_key(
    _ schedule: UnsafeRawPointer, _ initial: UnsafePointer<UInt8>?, _ key: UnsafeMutablePointer<UInt8>?,
    _ wrapped: UnsafePointer<UInt8>?, _ wrappedCount: Int
) -> CInt

@_extern(c) func CCryptoBoringSSL_SHA256_Init(_ state: UnsafeMutableRawPointer) -> CInt

@_extern(c) func CCryptoBoringSSL_SHA256_Update(
    _ state: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer, _ count: Int
) -> CInt

@_extern(c) func CCryptoBoringSSL_SHA256_Final(
    _ digest: UnsafeMutablePointer<UInt8>?, _ state: UnsafeMutableRawPointer
) -> CInt

@_extern(c) func CCryptoBoringSSL_X25519(
    _ shared: UnsafeMutablePointer<UInt8>?, _ privateKey: UnsafePointer<UInt8>?, _ publicKey: UnsafePointer<UInt8>?
) -> CInt

@_extern(c) func CCryptoBoringSSL_X25519_public_from_private(
    _ publicKey: UnsafeMutablePointer<UInt8>?, _ privateKey: UnsafePointer<UInt8>?)

@_extern(c) func CCryptoBoringSSL_EVP_PBE_scrypt(
    _ password: UnsafePointer<CChar>?, _ passwordCount: Int, _ salt: UnsafePointer<UInt8>?, _ saltCount: Int,
    _ rounds: UInt64, _ blockSize: UInt64, _ parallelism: UInt64, _ mostMemory: Int,
    _ key: UnsafeMutablePointer<UInt8>?,
    _ keyCount: Int
) -> CInt
