package import KeychainModel
internal import KeychainSystem

/// A key for one-time codes that follow the time of day (RFC 6238).
package struct OneTimeKey {
    package enum Digest: String, CaseIterable, Sendable {
        case sha1, sha256, sha512
    }

    package static let digitCounts = 6...8
    /// In seconds. A longer period than a day makes no sense.
    package static let periods: ClosedRange<UInt64> = 1...86_400
    /// Enough for every digest, several times over.
    package static let largestKey = 1024

    package let secret: SecretBytes
    package var digest = Digest.sha1
    package var digitCount = 6
    package var period: UInt64 = 30

    package init(secret: SecretBytes) { self.secret = secret }

    /// The code that is right at a moment.
    ///
    /// - Parameter seconds: Since 1970-01-01 00:00 UTC.
    package func code(at seconds: UInt64) -> String {
        let counter = (seconds / period).bigEndian
        let number = withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { hash in
            defer { ckeychain_erase(hash.baseAddress, hash.count) }
            let count = withUnsafeBytes(of: counter) { authenticate($0, into: hash) }
            // The last four bits say where the number begins (RFC 4226, section 5.3).
            let place = Int(hash[count - 1] & 0xf)
            return hash[place..<(place + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
        }
        let digits = String(number % Self.powersOfTen[digitCount])
        return String(repeating: "0", count: digitCount - digits.count) + digits
    }

    /// How long the code of a moment stays right.
    package func secondsLeft(at seconds: UInt64) -> UInt64 { period - seconds % period }

    private static let powersOfTen: [UInt32] = (0...8).map { count in (0..<count).reduce(1) { power, _ in power * 10 } }

    /// - Returns: the length of the code.
    private func authenticate(_ message: UnsafeRawBufferPointer, into code: UnsafeMutableRawBufferPointer) -> Int {
        var count: CUnsignedInt = 0
        let result = secret.withUnsafeBytes { key in
            CCryptoBoringSSL_HMAC(
                digest.function, key.baseAddress, key.count, message.baseAddress?.assumingMemoryBound(to: UInt8.self),
                message.count, code.baseAddress?.assumingMemoryBound(to: UInt8.self), &count)
        }
        precondition(result != nil, "BoringSSL has no memory for a hash")
        return Int(count)
    }
}

extension OneTimeKey.Digest {
    fileprivate var function: OpaquePointer {
        switch self {
        case .sha1: CCryptoBoringSSL_EVP_sha1()
        case .sha256: CCryptoBoringSSL_EVP_sha256()
        case .sha512: CCryptoBoringSSL_EVP_sha512()
        }
    }
}

/// nil on failure. The states that it makes of the key are on the stack, and are erased.
@_extern(c) func CCryptoBoringSSL_HMAC(
    _ digest: OpaquePointer, _ key: UnsafeRawPointer?, _ keyCount: Int, _ message: UnsafePointer<UInt8>?,
    _ messageCount: Int, _ code: UnsafeMutablePointer<UInt8>?, _ codeCount: UnsafeMutablePointer<CUnsignedInt>?
) -> UnsafeMutablePointer<UInt8>?
