package import FoundationEssentials
package import KeychainModel

/// The two operations that need the private number of a key on a curve. All other algorithms are built on these, so that a
/// key may be anywhere: in this process, in an engine, or some day in a chip.
package protocol CurvePrivateKey: Sendable {
    var curve: Curve { get }
    /// 04 ‖ X ‖ Y.
    var point: Data { get }

    /// ECDSA (FIPS 186-5): r ‖ s, each of the field's size. If the digest is longer than the curve, its first bits
    /// count.
    func signature(ofDigest digest: Data) throws(KeychainError) -> Data

    /// ECDH (SP 800-56A): the X coordinate of the common point.
    ///
    /// - Parameter peer: a key on the same curve.
    func sharedSecret(with peer: ECKey) throws(KeychainError) -> Data
}
