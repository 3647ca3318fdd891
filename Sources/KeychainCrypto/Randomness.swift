package import KeychainModel
internal import KeychainSystem

/// Where random bytes come from; a parameter, so that tests can repeat themselves.
package protocol Randomness: Sendable {
    /// - Throws: `.internalFailure` if the source fails; nothing may then be sealed.
    func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(KeychainError)
}

/// The kernel's generator, getrandom(2).
package struct SystemRandomness: Randomness {
    package init() {}

    package func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(KeychainError) {
        guard let start = bytes.baseAddress else { return }
        let failure = ckeychain_random(start, bytes.count)
        guard failure == 0 else {
            throw KeychainError(.internalFailure, message: "the kernel gave no random bytes (errno \(failure))")
        }
    }
}
