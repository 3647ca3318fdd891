/// A NIST prime curve (FIPS 186-5, SP 800-186).
package enum Curve: Int, Sendable, Hashable, CaseIterable {
    case p256 = 256
    case p384 = 384
    case p521 = 521

    package var bitCount: Int { rawValue }
    /// The size of a coordinate, of a private number and of either half of a signature.
    package var fieldByteCount: Int { (rawValue + 7) / 8 }
    /// The size of a point in its uncompressed form: 04 ‖ X ‖ Y.
    package var pointByteCount: Int { 1 + 2 * fieldByteCount }
    /// The size of a private key in X9.63's form: 04 ‖ X ‖ Y ‖ K.
    package var privateByteCount: Int { 1 + 3 * fieldByteCount }

    /// The library's number of the curve (`NID_…`).
    var number: CInt {
        switch self {
        case .p256: 415
        case .p384: 715
        case .p521: 716
        }
    }
}
