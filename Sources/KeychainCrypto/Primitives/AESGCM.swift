/// AES-256-GCM (NIST SP 800-38D) that leaves no key behind: its state is on the stack and erased.
///
/// A box is a nonce of 12 bytes, the ciphertext, and a tag of 16.
package enum AESGCM {
    package static let nonceByteCount = 12
    package static let tagByteCount = 16
    package static let overhead = nonceByteCount + tagByteCount

    /// - Parameters:
    ///   - nonce: 12 bytes that were never used with this key.
    ///   - box: 28 bytes more than the plaintext.
    package static func seal(
        _ plaintext: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
        associated: UnsafeRawBufferPointer, into box: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard nonce.count == nonceByteCount, box.count == plaintext.count + overhead else { return false }
        box.copyMemory(from: nonce)
        let sealed = UnsafeMutableRawBufferPointer(rebasing: box[nonceByteCount...])
        return withContext(key) { context in
            var written = 0
            return CCryptoBoringSSL_EVP_AEAD_CTX_seal(
                context, sealed.octets, &written, sealed.count, nonce.octets, nonce.count, plaintext.octets,
                plaintext.count, associated.octets, associated.count) == 1 && written == sealed.count
        }
    }

    /// - Parameter plaintext: 28 bytes less than the box; zeros if it does not open.
    /// - Returns: false if the box was not sealed with this key and associated data.
    package static func open(
        _ box: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, associated: UnsafeRawBufferPointer,
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard box.count >= overhead, plaintext.count == box.count - overhead else { return false }
        let nonce = UnsafeRawBufferPointer(rebasing: box[..<nonceByteCount])
        let sealed = UnsafeRawBufferPointer(rebasing: box[nonceByteCount...])
        return withContext(key) { context in
            var written = 0
            return CCryptoBoringSSL_EVP_AEAD_CTX_open(
                context, plaintext.octets, &written, plaintext.count, nonce.octets, nonce.count, sealed.octets,
                sealed.count, associated.octets, associated.count) == 1 && written == plaintext.count
        }
    }

    private static func withContext(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawPointer) -> Bool
    ) -> Bool {
        guard key.count == 32 else { return false }
        return LibraryState.with(byteCount: LibraryState.cipher) { context in
            guard
                CCryptoBoringSSL_EVP_AEAD_CTX_init(
                    context, CCryptoBoringSSL_EVP_aead_aes_256_gcm(), key.octets, key.count, tagByteCount, nil) == 1
            else { return false }
            defer { CCryptoBoringSSL_EVP_AEAD_CTX_cleanup(context) }
            return LibraryOutput.leavingNoErrors(ofFailure: body(context))
        }
    }
}
