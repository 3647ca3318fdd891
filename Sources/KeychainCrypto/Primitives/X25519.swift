internal import FoundationEssentials
internal import KeychainSystem

/// Diffie-Hellman on Curve25519 (RFC 7748), with its results in memory that the caller owns.
enum X25519 {
    static let byteCount = 32

    /// - Parameters: 32 bytes each.
    static func publicKey(of privateKey: UnsafeRawBufferPointer, into publicKey: UnsafeMutableRawBufferPointer) {
        precondition(privateKey.count == byteCount && publicKey.count == byteCount)
        CCryptoBoringSSL_X25519_public_from_private(publicKey.octets, privateKey.octets)
    }

    static func publicKey(of privateKey: UnsafeRawBufferPointer) -> Data {
        var publicKey = Data(count: byteCount)
        publicKey.withUnsafeMutableBytes { Self.publicKey(of: privateKey, into: $0) }
        return publicKey
    }

    /// - Parameters: 32 bytes each.
    /// - Returns: false, with zeros in `shared`, if the other side's key is one of the few that give zero with every
    ///   private key (RFC 7748, section 6.1).
    static func agree(
        _ privateKey: UnsafeRawBufferPointer, with publicKey: UnsafeRawBufferPointer,
        into shared: UnsafeMutableRawBufferPointer
    ) -> Bool {
        precondition(privateKey.count == byteCount && publicKey.count == byteCount && shared.count == byteCount)
        if CCryptoBoringSSL_X25519(shared.octets, privateKey.octets, publicKey.octets) == 1 { return true }
        ckeychain_erase(shared.baseAddress, shared.count)
        return false
    }
}
