package import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel

/// Half of an RSA key pair (RFC 8017).
///
/// Its memory is the cipher library's, which blinds each private operation and erases the memory when the object goes.
package final class RSAKey: @unchecked Sendable {  // the library guards the values that it computes at the first use
    /// The sizes of keys that can be made. The library would round other sizes, and make another key than was asked
    /// for.
    package static let sizes = stride(from: 512, through: 8192, by: 128)

    /// How a block is filled up to the size of the modulus.
    package enum Padding: Sendable, Hashable {
        case none
        /// Type 1 for signatures, type 2 for encryption.
        case pkcs1
        /// For encryption, with an empty label, and the same function as mask.
        case oaep(DigestAlgorithm)

        fileprivate var number: CInt {
            switch self {
            case .pkcs1: 1
            case .none: 3
            case .oaep: 4
            }
        }
    }

    package let isPrivate: Bool
    private let key: OpaquePointer

    package var bitCount: Int { Int(CCryptoBoringSSL_RSA_bits(key)) }
    /// The size of the modulus.
    package var blockByteCount: Int { Int(CCryptoBoringSSL_RSA_size(key)) }

    deinit { CCryptoBoringSSL_RSA_free(key) }

    private init(isPrivate: Bool, owning key: OpaquePointer?) throws(KeychainError) {
        // Two structures are tried, so that there are errors of one that was read, too.
        CCryptoBoringSSL_ERR_clear_error()
        guard let key else {
            throw KeychainError(.parameter, message: "the bytes are no RSA key of 512 to 8,192 bits")
        }
        guard CCryptoBoringSSL_RSA_bits(key) >= 512 else {
            CCryptoBoringSSL_RSA_free(key)
            throw KeychainError(.parameter, message: "an RSA key has at least 512 bits")
        }
        (self.isPrivate, self.key) = (isPrivate, key)
    }

    /// Makes a new pair with the exponent 65,537, and returns its private half.
    ///
    /// - Throws: `.parameter` unless the size is one of ``sizes``.
    package convenience init(generating bitCount: Int) throws(KeychainError) {
        guard Self.sizes.contains(bitCount) else {
            throw KeychainError(
                .parameter, message: "an RSA key has a multiple of 128 bits, from 512 to 8,192, and not \(bitCount)")
        }
        guard let key = CCryptoBoringSSL_RSA_new(), let exponent = CCryptoBoringSSL_BN_new() else {
            throw KeychainError(.allocation, message: "there is no memory for a key")
        }
        defer { CCryptoBoringSSL_BN_free(exponent) }
        guard CCryptoBoringSSL_BN_set_u64(exponent, 65_537) == 1,
            CCryptoBoringSSL_RSA_generate_key_ex(key, CInt(bitCount), exponent, nil) == 1
        else {
            CCryptoBoringSSL_RSA_free(key)
            CCryptoBoringSSL_ERR_clear_error()
            throw KeychainError(.internalFailure, message: "no RSA key could be made")
        }
        try self.init(isPrivate: true, owning: key)
    }

    /// - Parameter bytes: `RSAPrivateKey` of PKCS#1 with two primes, in DER.
    package convenience init(privateBytes bytes: Data) throws(KeychainError) {
        try self.init(
            isPrivate: true,
            owning: bytes.withUnsafeBytes { CCryptoBoringSSL_RSA_private_key_from_bytes($0.octets, $0.count) })
    }

    /// - Parameter bytes: `RSAPublicKey` of PKCS#1, or a certificate's `SubjectPublicKeyInfo`, in DER.
    package convenience init(publicBytes bytes: Data) throws(KeychainError) {
        try self.init(
            isPrivate: false,
            owning: bytes.withUnsafeBytes { bytes in
                CCryptoBoringSSL_RSA_public_key_from_bytes(bytes.octets, bytes.count) ?? Self.publicKeyInfo(bytes)
            })
    }

    private static func publicKeyInfo(_ bytes: UnsafeRawBufferPointer) -> OpaquePointer? {
        guard let start = bytes.octets else { return nil }
        var rest = (start, bytes.count)  // a CBS
        guard let any = withUnsafeMutablePointer(to: &rest, { CCryptoBoringSSL_EVP_parse_public_key($0) }) else {
            return nil
        }
        defer { CCryptoBoringSSL_EVP_PKEY_free(any) }
        return rest.1 == 0 ? CCryptoBoringSSL_EVP_PKEY_get1_RSA(any) : nil
    }

    /// `RSAPublicKey` of PKCS#1.
    package var publicBytes: Data {
        // A key that was read or made is also written.
        LibraryOutput.collect { CCryptoBoringSSL_RSA_public_key_to_bytes($0, $1, key) }!
    }

    /// `RSAPrivateKey` of PKCS#1, or nil of a public half.
    package var privateBytes: Data? {
        isPrivate ? LibraryOutput.collect { CCryptoBoringSSL_RSA_private_key_to_bytes($0, $1, key) } : nil
    }

    /// The other half, or this one if it is public.
    package var publicHalf: RSAKey {
        get throws(KeychainError) { isPrivate ? try RSAKey(publicBytes: publicBytes) : self }
    }

    // MARK: Signatures

    /// RSASSA-PKCS1-v1_5 of a digest.
    package func signature(ofDigest digest: Data, _ algorithm: DigestAlgorithm) throws(KeychainError) -> Data {
        try collect("the key cannot sign a digest of this size") { out, count in
            var written: CUnsignedInt = 0
            let isDone = digest.withUnsafeBytes {
                CCryptoBoringSSL_RSA_sign(algorithm.number, $0.octets, $0.count, out, &written, key)
            }
            count = Int(written)
            return isDone
        }
    }

    package func isSignature(_ signature: Data, ofDigest digest: Data, _ algorithm: DigestAlgorithm) -> Bool {
        isRight(signature, digest) { signature, digest in
            CCryptoBoringSSL_RSA_verify(
                algorithm.number, digest.octets, digest.count, signature.octets, signature.count, key)
        }
    }

    /// RSASSA-PSS of a digest, with a salt of the digest's size and the same function as mask.
    package func probabilisticSignature(
        ofDigest digest: Data, _ algorithm: DigestAlgorithm
    ) throws(KeychainError) -> Data {
        try collect("the key cannot sign a digest of this size") { out, count in
            digest.withUnsafeBytes {
                CCryptoBoringSSL_RSA_sign_pss_mgf1(
                    key, &count, out, count, $0.octets, $0.count, algorithm.function, nil, Self.saltOfDigestSize)
            }
        }
    }

    package func isProbabilisticSignature(
        _ signature: Data, ofDigest digest: Data, _ algorithm: DigestAlgorithm
    ) -> Bool {
        isRight(signature, digest) { signature, digest in
            CCryptoBoringSSL_RSA_verify_pss_mgf1(
                key, digest.octets, digest.count, algorithm.function, nil, Self.saltOfDigestSize, signature.octets,
                signature.count)
        }
    }

    /// A signature of bytes that are only filled up, never hashed.
    ///
    /// - Parameter bytes: As many as the modulus has, and less as a number, without padding; else at least 11 fewer.
    package func rawSignature(of bytes: Data, _ padding: Padding) throws(KeychainError) -> Data {
        try collect("the key cannot sign \(bytes.count) bytes") { out, count in
            bytes.withUnsafeBytes {
                CCryptoBoringSSL_RSA_sign_raw(key, &count, out, count, $0.octets, $0.count, padding.number)
            }
        }
    }

    /// The bytes that a signature is of.
    package func rawContent(of signature: Data, _ padding: Padding) throws(KeychainError) -> Data {
        try collect("the bytes are no signature of this key") { out, count in
            signature.withUnsafeBytes {
                CCryptoBoringSSL_RSA_verify_raw(key, &count, out, count, $0.octets, $0.count, padding.number)
            }
        }
    }

    // MARK: Encryption

    package func encrypt(_ bytes: Data, _ padding: Padding) throws(KeychainError) -> Data {
        let failure = "the key cannot encrypt \(bytes.count) bytes with this padding"
        guard case .oaep(let digest) = padding else {
            return try collect(failure) { out, count in
                bytes.withUnsafeBytes {
                    CCryptoBoringSSL_RSA_encrypt(key, &count, out, count, $0.octets, $0.count, padding.number)
                }
            }
        }
        return try collect(failure) { out, count in
            withContext(digest, CCryptoBoringSSL_EVP_PKEY_encrypt_init) { context in
                bytes.withUnsafeBytes {
                    CCryptoBoringSSL_EVP_PKEY_encrypt(context, out, &count, $0.octets, $0.count)
                }
            }
        }
    }

    /// A wrong padding of PKCS#1 is no failure (``ImplicitRejection``).
    ///
    /// - Throws: `.parameter` with one text for every cause.
    package func decrypt(_ bytes: Data, _ padding: Padding) throws(KeychainError) -> Data {
        let failure = "the bytes do not decrypt with this key"
        switch padding {
        case .none:
            return try collect(failure) { out, count in
                bytes.withUnsafeBytes {
                    CCryptoBoringSSL_RSA_decrypt(key, &count, out, count, $0.octets, $0.count, padding.number)
                }
            }
        case .pkcs1:
            let block = try decrypt(bytes, .none)
            return ImplicitRejection.message(of: block, ciphertext: bytes, privateExponent: try privateExponent)
        case .oaep(let digest):
            return try collect(failure) { out, count in
                withContext(digest, CCryptoBoringSSL_EVP_PKEY_decrypt_init) { context in
                    bytes.withUnsafeBytes {
                        CCryptoBoringSSL_EVP_PKEY_decrypt(context, out, &count, $0.octets, $0.count)
                    }
                }
            }
        }
    }

    /// The exponent has the size of the modulus.
    private var privateExponent: SecretBytes {
        get throws(KeychainError) {
            guard let exponent = CCryptoBoringSSL_RSA_get0_d(key) else {
                throw KeychainError(.parameter, message: "the key is no private one")
            }
            return SecretBytes(count: blockByteCount) {
                let isDone = CCryptoBoringSSL_BN_bn2bin_padded($0.octets, $0.count, exponent)
                precondition(isDone == 1, "a private exponent is smaller than the modulus")
            }
        }
    }

    /// `RSA_PSS_SALTLEN_DIGEST`.
    private static let saltOfDigestSize: CInt = -1

    private func collect(
        _ failure: String, _ body: (UnsafeMutablePointer<UInt8>?, inout Int) -> CInt
    ) throws(KeychainError) -> Data {
        try LibraryOutput.collect(upTo: blockByteCount, failure, body)
    }

    private func isRight(
        _ signature: Data, _ digest: Data, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> CInt
    ) -> Bool {
        LibraryOutput.leavingNoErrors {
            signature.withUnsafeBytes { signature in digest.withUnsafeBytes { body(signature, $0) } } == 1
        }
    }

    /// Runs an operation with OAEP. nil from the library counts as 0, a failure.
    private func withContext(
        _ digest: DigestAlgorithm, _ begin: (OpaquePointer) -> CInt, _ body: (OpaquePointer) -> CInt
    ) -> CInt {
        guard let any = CCryptoBoringSSL_EVP_PKEY_new() else { return 0 }
        defer { CCryptoBoringSSL_EVP_PKEY_free(any) }
        guard CCryptoBoringSSL_EVP_PKEY_set1_RSA(any, key) == 1,
            let context = CCryptoBoringSSL_EVP_PKEY_CTX_new(any, nil)
        else { return 0 }
        defer { CCryptoBoringSSL_EVP_PKEY_CTX_free(context) }
        guard begin(context) == 1,
            CCryptoBoringSSL_EVP_PKEY_CTX_set_rsa_padding(context, Padding.oaep(digest).number) == 1,
            CCryptoBoringSSL_EVP_PKEY_CTX_set_rsa_oaep_md(context, digest.function) == 1,
            CCryptoBoringSSL_EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest.function) == 1
        else { return 0 }
        return body(context)
    }
}
