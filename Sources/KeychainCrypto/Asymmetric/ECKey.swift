package import FoundationEssentials
package import KeychainModel

/// Half of a key pair on a NIST curve.
///
/// Its memory is the cipher library's, which erases it when the object goes. The caller erases the bytes that
/// ``privateBytes`` returns.
package final class ECKey: @unchecked Sendable {  // the library's key is not changed after init
    package let curve: Curve
    package let isPrivate: Bool
    /// 04 ‖ X ‖ Y.
    package let point: Data
    private let key: OpaquePointer

    deinit { CCryptoBoringSSL_EC_KEY_free(key) }

    /// - Parameter point: The public half. nil has it computed.
    private convenience init(
        _ curve: Curve, isPrivate: Bool, point: Data? = nil, _ fill: (OpaquePointer) -> Bool
    ) throws(KeychainError) {
        guard let key = CCryptoBoringSSL_EC_KEY_new_by_curve_name(curve.number) else {
            throw KeychainError(.allocation, message: "there is no memory for a key")
        }
        guard fill(key) else {
            CCryptoBoringSSL_EC_KEY_free(key)
            throw Self.failure(curve)
        }
        try self.init(curve, isPrivate: isPrivate, point: point, owning: key)
    }

    private init(_ curve: Curve, isPrivate: Bool, point: Data?, owning key: OpaquePointer?) throws(KeychainError) {
        defer { CCryptoBoringSSL_ERR_clear_error() }
        guard let key, let point = point ?? Self.point(of: key, curve) else {
            CCryptoBoringSSL_EC_KEY_free(key)
            throw Self.failure(curve)
        }
        (self.curve, self.isPrivate, self.point, self.key) = (curve, isPrivate, point, key)
    }

    private static func failure(_ curve: Curve) -> KeychainError {
        CCryptoBoringSSL_ERR_clear_error()
        return KeychainError(.parameter, message: "the bytes are no key of the curve P-\(curve.bitCount)")
    }

    /// Makes a new pair, and returns its private half.
    package convenience init(generating curve: Curve) throws(KeychainError) {
        try self.init(curve, isPrivate: true) { CCryptoBoringSSL_EC_KEY_generate_key($0) == 1 }
    }

    /// - Parameter point: 04 ‖ X ‖ Y.
    /// - Throws: `.parameter` for anything else, a compressed point and one that is not on the curve among it.
    package convenience init(_ curve: Curve, point: Data) throws(KeychainError) {
        try self.init(curve, isPrivate: false, point: point) { key in
            point.withUnsafeBytes { Self.set($0, of: key, curve) }
        }
    }

    /// - Parameter bytes: 04 ‖ X ‖ Y ‖ K. They are copied into memory that the library erases, and nowhere else.
    /// - Throws: `.parameter` for bytes of another form, and if K is not the private number of the point.
    package convenience init(_ curve: Curve, privateBytes bytes: SecretBytes) throws(KeychainError) {
        try self.init(curve, isPrivate: true) { key in
            bytes.withUnsafeBytes { bytes in
                guard bytes.count == curve.privateByteCount else { return false }
                let number = UnsafeRawBufferPointer(rebasing: bytes[curve.pointByteCount...])
                return Self.set(UnsafeRawBufferPointer(rebasing: bytes[..<curve.pointByteCount]), of: key, curve)
                    && CCryptoBoringSSL_EC_KEY_oct2priv(key, number.octets, number.count) == 1
                    && CCryptoBoringSSL_EC_KEY_check_key(key) == 1
            }
        }
    }

    /// Like ``init(_:privateBytes:)``, for bytes that this code wrote and kept authentic: the point is not computed
    /// from the number again, which takes as long as a signature.
    package convenience init(_ curve: Curve, authenticBytes bytes: SecretBytes) throws(KeychainError) {
        let point = bytes.withUnsafeBytes { Data($0.prefix(curve.pointByteCount)) }
        try self.init(curve, isPrivate: true, point: point) { key in
            bytes.withUnsafeBytes { bytes in
                guard bytes.count == curve.privateByteCount else { return false }
                let number = UnsafeRawBufferPointer(rebasing: bytes[curve.pointByteCount...])
                return CCryptoBoringSSL_EC_KEY_oct2priv(key, number.octets, number.count) == 1
            }
        }
    }

    /// - Parameter point: 04 ‖ X ‖ Y, or 02 or 03 ‖ X, as files may have it.
    package convenience init(_ curve: Curve, anyPoint point: Data) throws(KeychainError) {
        try self.init(curve, isPrivate: false) { key in
            point.withUnsafeBytes { CCryptoBoringSSL_EC_KEY_oct2key(key, $0.octets, $0.count, nil) == 1 }
        }
    }

    /// - Parameter bytes: `ECPrivateKey` (RFC 5915). It may leave out the curve and the point.
    package convenience init(_ curve: Curve, sec1 bytes: ArraySlice<UInt8>) throws(KeychainError) {
        let key = bytes.withUnsafeBytes { Self.parse($0, curve) }
        try self.init(curve, isPrivate: true, point: nil, owning: key)
    }

    private static func parse(_ bytes: UnsafeRawBufferPointer, _ curve: Curve) -> OpaquePointer? {
        guard let start = bytes.octets, let empty = CCryptoBoringSSL_EC_KEY_new_by_curve_name(curve.number) else {
            return nil
        }
        defer { CCryptoBoringSSL_EC_KEY_free(empty) }
        let group = CCryptoBoringSSL_EC_KEY_get0_group(empty)
        var rest = (start, bytes.count)  // a CBS
        let key = withUnsafeMutablePointer(to: &rest) { CCryptoBoringSSL_EC_KEY_parse_private_key($0, group) }
        guard rest.1 == 0 else {
            CCryptoBoringSSL_EC_KEY_free(key)
            return nil
        }
        return key
    }

    private static func set(_ point: UnsafeRawBufferPointer, of key: OpaquePointer, _ curve: Curve) -> Bool {
        point.count == curve.pointByteCount && point[0] == 4
            && CCryptoBoringSSL_EC_KEY_oct2key(key, point.octets, point.count, nil) == 1
    }

    private static func point(of key: OpaquePointer, _ curve: Curve) -> Data? {
        guard let point = CCryptoBoringSSL_EC_KEY_get0_public_key(key) else { return nil }
        let group = CCryptoBoringSSL_EC_KEY_get0_group(key)
        var bytes = Data(count: curve.pointByteCount)
        let count = bytes.withUnsafeMutableBytes {
            CCryptoBoringSSL_EC_POINT_point2oct(group, point, 4, $0.octets, $0.count, nil)
        }
        return count == bytes.count ? bytes : nil
    }

    /// 04 ‖ X ‖ Y ‖ K, or nil of a public half.
    package var privateBytes: SecretBytes? {
        guard isPrivate else { return nil }
        return SecretBytes(count: curve.privateByteCount) { bytes in
            bytes.copyBytes(from: point)
            let number = UnsafeMutableRawBufferPointer(rebasing: bytes[curve.pointByteCount...])
            let count = CCryptoBoringSSL_EC_KEY_priv2oct(key, number.octets, number.count)
            precondition(count == number.count, "a private half has its number")
        }
    }

    /// K, of the field's size, for files. Nothing erases it. nil of a public half.
    package var privateNumber: [UInt8]? {
        privateBytes?.withUnsafeBytes { Array($0[curve.pointByteCount...]) }
    }

    /// The other half, or this one if it is public.
    package var publicHalf: ECKey {
        get throws(KeychainError) { isPrivate ? try ECKey(curve, point: point) : self }
    }

    /// Whether a signature is this key's.
    ///
    /// - Parameter signature: r ‖ s, each of the field's size. A signature of another length is refused.
    package func isSignature(_ signature: Data, ofDigest digest: Data) -> Bool {
        LibraryOutput.leavingNoErrors {
            digest.withUnsafeBytes { digest in
                signature.withUnsafeBytes { signature in
                    CCryptoBoringSSL_ECDSA_verify_p1363(
                        digest.octets, digest.count, signature.octets, signature.count, key) == 1
                }
            }
        }
    }
}

extension ECKey: CurvePrivateKey {
    package func signature(ofDigest digest: Data) throws(KeychainError) -> Data {
        try LibraryOutput.collect(upTo: 2 * curve.fieldByteCount, "the key cannot sign") { out, count in
            digest.withUnsafeBytes {
                CCryptoBoringSSL_ECDSA_sign_p1363($0.octets, $0.count, out, &count, count, key)
            }
        }
    }

    package func sharedSecret(with peer: ECKey) throws(KeychainError) -> Data {
        try LibraryOutput.collect(upTo: curve.fieldByteCount, "the keys cannot agree on a secret") { out, count in
            guard isPrivate, peer.curve == curve, let point = CCryptoBoringSSL_EC_KEY_get0_public_key(peer.key) else {
                return 0
            }
            return CCryptoBoringSSL_ECDH_compute_key(out, count, point, key, nil) == CInt(count) ? 1 : 0
        }
    }
}
