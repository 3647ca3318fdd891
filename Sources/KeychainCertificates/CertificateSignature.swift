internal import SwiftASN1

/// The issuer's signature of a certificate.
struct CertificateSignature: Sendable {
    /// What is signed, as encoded.
    let content: ArraySlice<UInt8>
    /// The algorithm as the signed part names it.
    let innerAlgorithm: AlgorithmIdentifier
    /// The algorithm as it stands beside the signature. A signature counts only if both are one.
    let algorithm: AlgorithmIdentifier
    let bits: ASN1BitString
}
