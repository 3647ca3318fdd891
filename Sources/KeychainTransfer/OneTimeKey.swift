internal import KeychainKeys
package import KeychainModel

/// A key for one-time codes that follow the time of day (RFC 6238).
package struct OneTimeKey {
    package enum Digest: String, CaseIterable, Sendable {
        case sha1, sha256, sha512
    }

    package static let digitCounts = 6...8
    /// The periods in seconds. A longer period than a day makes no sense.
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
    /// - Parameter seconds: Seconds since 1970-01-01 00:00 UTC.
    package func code(at seconds: UInt64) -> String {
        let counter = withUnsafeBytes(of: (seconds / period).bigEndian, Array.init)
        let hash = secret.withUnsafeBytes { digest.algorithm.code(of: counter[...], key: $0) }
        // The last four bits say where the number begins (RFC 4226, section 5.3).
        let place = Int(hash[hash.count - 1] & 0xf)
        let number = hash[place..<(place + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
        let digits = String(number % Self.powersOfTen[digitCount])
        return String(repeating: "0", count: digitCount - digits.count) + digits
    }

    /// How long the code of a moment stays right.
    package func secondsLeft(at seconds: UInt64) -> UInt64 { period - seconds % period }

    private static let powersOfTen: [UInt32] = (0...8).map { count in (0..<count).reduce(1) { power, _ in power * 10 } }
}

extension OneTimeKey.Digest {
    fileprivate var algorithm: DigestAlgorithm {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha512: .sha512
        }
    }
}
