package import FoundationEssentials
package import KeychainModel

/// The key derivation of ANSI X9.63 (SEC 1, section 3.6.1): H(Z ‖ 1 ‖ info) ‖ H(Z ‖ 2 ‖ info) ‖ …, with the number in four bytes,
/// the highest first.
package enum X963KeyDerivation {
    /// No caller needs more, and a size from outside must not take all memory.
    package static let mostBytes = 1 << 20

    /// - Throws: `.parameter` for a size that is negative or more than ``mostBytes``.
    package static func derive(
        from secret: Data, sharedInfo: Data, count: Int, _ digest: DigestAlgorithm
    ) throws(KeychainError) -> Data {
        guard 0...mostBytes ~= count else {
            throw KeychainError(.parameter, message: "a key of \(count) bytes cannot be derived")
        }
        var result = Data(capacity: count + digest.byteCount)
        var number: UInt32 = 1
        while result.count < count {
            let block = secret + withUnsafeBytes(of: number.bigEndian) { Data($0) } + sharedInfo
            result += digest.digest(of: block)
            number += 1
        }
        return Data(result.prefix(count))
    }
}
