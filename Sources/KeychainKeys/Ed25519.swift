package import FoundationEssentials
internal import KeychainCrypto

/// Signatures of certificates by keys of this kind (RFC 8032). The keychain itself has no such keys.
package enum Ed25519 {
    package static func isSignature(_ signature: Data, of message: Data, by key: Data) -> Bool {
        guard signature.count == 64, key.count == 32 else { return false }
        let (message, signature, key) = (Array(message), Array(signature), Array(key))
        return LibraryOutput.leavingNoErrors {
            CCryptoBoringSSL_ED25519_verify(message, message.count, signature, key) == 1
        }
    }
}
