internal import Crypto
package import FoundationEssentials

/// A digest of everything that is enrolled at some moment.
package enum EnrolmentDigest {
    /// SHA-256 of the parts in their order, each behind its length in bytes (32 bits, most significant first), so that no
    /// two lists have the same bytes.
    package static func of(_ parts: [Data]) -> [UInt8] {
        var hash = SHA256()
        for part in parts {
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: part)
        }
        return Array(hash.finalize())
    }
}
