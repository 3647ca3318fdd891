// The functions of CCryptoBoringSSL for the NIST curves (docs/decisions/036-keys-through-boringssl.md), declared as in
// BoringSSL.swift. A function returns 1 on success, unless it returns a pointer, which is nil on failure.

@_extern(c) func CCryptoBoringSSL_EC_KEY_new_by_curve_name(_ number: CInt) -> OpaquePointer?
@_extern(c) func CCryptoBoringSSL_EC_KEY_free(_ key: OpaquePointer?)
@_extern(c) func CCryptoBoringSSL_EC_KEY_generate_key(_ key: OpaquePointer) -> CInt
@_extern(c) func CCryptoBoringSSL_EC_KEY_check_key(_ key: OpaquePointer) -> CInt
@_extern(c) func CCryptoBoringSSL_EC_KEY_get0_public_key(_ key: OpaquePointer) -> OpaquePointer?

@_extern(c) func CCryptoBoringSSL_EC_KEY_oct2key(
    _ key: OpaquePointer, _ bytes: UnsafePointer<UInt8>?, _ count: Int, _ context: OpaquePointer?
) -> CInt

@_extern(c) func CCryptoBoringSSL_EC_KEY_oct2priv(
    _ key: OpaquePointer, _ bytes: UnsafePointer<UInt8>?, _ count: Int
) -> CInt

@_extern(c) func CCryptoBoringSSL_EC_KEY_priv2oct(
    _ key: OpaquePointer, _ bytes: UnsafeMutablePointer<UInt8>?, _ capacity: Int
) -> Int

@_extern(c) func CCryptoBoringSSL_EC_KEY_get0_group(_ key: OpaquePointer) -> OpaquePointer

/// - Parameter form: 4 is the uncompressed one.
@_extern(c) func CCryptoBoringSSL_EC_POINT_point2oct(
    _ group: OpaquePointer, _ point: OpaquePointer, _ form: CInt, _ bytes: UnsafeMutablePointer<UInt8>?,
    _ capacity: Int, _ context: OpaquePointer?
) -> Int

@_extern(c) func CCryptoBoringSSL_ECDSA_sign_p1363(
    _ digest: UnsafePointer<UInt8>?, _ digestCount: Int, _ out: UnsafeMutablePointer<UInt8>?,
    _ outCount: UnsafeMutablePointer<Int>, _ capacity: Int, _ key: OpaquePointer
) -> CInt

@_extern(c) func CCryptoBoringSSL_ECDSA_verify_p1363(
    _ digest: UnsafePointer<UInt8>?, _ digestCount: Int, _ signature: UnsafePointer<UInt8>?, _ signatureCount: Int,
    _ key: OpaquePointer
) -> CInt

/// - Returns: the number of bytes, or −1.
@_extern(c) func CCryptoBoringSSL_ECDH_compute_key(
    _ out: UnsafeMutableRawPointer?, _ count: Int, _ peer: OpaquePointer, _ key: OpaquePointer,
    _ derivation: OpaquePointer?
) -> CInt

/// Takes a `CBS`, and moves it behind the bytes that were read. A point that is not there is computed.
@_extern(c) func CCryptoBoringSSL_EC_KEY_parse_private_key(
    _ bytes: UnsafeMutableRawPointer, _ group: OpaquePointer?
) -> OpaquePointer?

// MARK: Memory

/// Erases, then frees.
@_extern(c) func CCryptoBoringSSL_OPENSSL_free(_ bytes: UnsafeMutableRawPointer?)
/// Forgets what this thread's last calls left in its list of errors.
@_extern(c) package func CCryptoBoringSSL_ERR_clear_error()
