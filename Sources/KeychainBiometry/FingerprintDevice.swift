internal import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel

/// A reader, and its enrolled fingers for a user.
struct FingerprintDevice {
    /// The reader's object path at fprintd. The path changes when the reader is unplugged and plugged in again.
    let path: String
    /// Its model, as a person would know it. fprintd tells of nothing that is one reader's own.
    let name: String
    /// Whether a finger is drawn over it, not laid on it.
    let isSwiped: Bool
    /// "right-index-finger" and the like, in no order.
    let fingers: [String]
    let user: uid_t

    var enrolment: BiometryEnrolment {
        BiometryEnrolment(kind: .fingerprint, digest: Self.digest(of: name, fingers: fingers, user: user))
    }

    /// SHA-256 of a label, the user's number, the reader's name and the fingers' names in the order of their bytes.
    static func digest(of name: String, fingers: [String], user: uid_t) -> [UInt8] {
        let sorted = fingers.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let parts = ["swift-keychain fingerprint enrolment 1", String(user), name] + sorted
        return EnrolmentDigest.of(parts.map { Data($0.utf8) })
    }
}
