package import FoundationEssentials
internal import KeychainCrypto

/// A hash function that signatures, paddings and key derivations name (FIPS 180-4).
package enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable {
    case sha1 = "SHA1"
    case sha224 = "SHA224"
    case sha256 = "SHA256"
    case sha384 = "SHA384"
    case sha512 = "SHA512"

    package var byteCount: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    var blockByteCount: Int {
        switch self {
        case .sha1, .sha224, .sha256: 64
        case .sha384, .sha512: 128
        }
    }

    /// `EVP_MD`, which is never freed.
    var function: OpaquePointer {
        switch self {
        case .sha1: CCryptoBoringSSL_EVP_sha1()
        case .sha224: CCryptoBoringSSL_EVP_sha224()
        case .sha256: CCryptoBoringSSL_EVP_sha256()
        case .sha384: CCryptoBoringSSL_EVP_sha384()
        case .sha512: CCryptoBoringSSL_EVP_sha512()
        }
    }

    /// The library's number of the function (`NID_…`).
    var number: CInt {
        switch self {
        case .sha1: 64
        case .sha224: 675
        case .sha256: 672
        case .sha384: 673
        case .sha512: 674
        }
    }

    package func digest(of bytes: Data) -> Data {
        var digest = Data(count: byteCount)
        digest.withUnsafeMutableBytes { digest in bytes.withUnsafeBytes { hash($0, into: digest) } }
        return digest
    }

    /// - Parameter digest: ``byteCount`` bytes. They may be those that are hashed.
    func hash(_ bytes: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer) {
        let isDone = CCryptoBoringSSL_EVP_Digest(
            bytes.baseAddress, bytes.count, digest.octets, nil, function, nil)
        precondition(isDone == 1, "a hash function cannot fail")
    }

    /// HMAC (RFC 2104).
    package func code(of bytes: ArraySlice<UInt8>, key: UnsafeRawBufferPointer) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: byteCount)
        let result = bytes.withUnsafeBytes {
            CCryptoBoringSSL_HMAC(function, key.baseAddress, key.count, $0.octets, $0.count, &code, nil)
        }
        precondition(result != nil, "a hash function cannot fail")
        return code
    }
}
