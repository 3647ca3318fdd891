package import KeychainModel
internal import SwiftASN1

/// `EncryptedPrivateKeyInfo` of PKCS#8 (RFC 5958, section 3).
package struct EncryptedKey: Sendable {
    private let encryption: PassphraseEncryption
    private let ciphertext: [UInt8]

    /// - Throws: ``KeyFileFlaw/otherEncryption(_:)`` for another scheme, ``KeyFileFlaw/tooExpensive(_:)`` for a
    ///   derivation that takes too long.
    init(_ root: ASN1Node) throws {
        do {
            (encryption, ciphertext) = try DER.sequence(root, identifier: .sequence) { nodes in
                guard let scheme = nodes.next() else { throw KeyFileFlaw.damaged }
                return (try PassphraseEncryption(scheme), Array(try ASN1OctetString(derEncoded: &nodes).bytes))
            }
        } catch let flaw as PassphraseFlaw {
            throw KeyFileFlaw(flaw)
        }
    }

    /// Opens the key. This takes as long as the file asks for: up to seconds.
    ///
    /// - Throws: `.authenticationFailed` for a wrong passphrase and for a file that was damaged, which cannot be told
    ///   apart; `.parameter` for a key of a kind that is not known here.
    package func key(_ passphrase: SecretBytes) throws(KeychainError) -> AsymmetricKey {
        let failure = KeychainError(
            .authenticationFailed, message: "the passphrase is wrong, or the file of the key is damaged")
        guard let plaintext = encryption.decrypt(ciphertext, FilePassphrase(passphrase)) else { throw failure }
        do {
            return try AsymmetricKey(privateKeyInfo: DER.parse(plaintext))
        } catch let flaw as KeyFileFlaw {
            guard case .otherKind = flaw else { throw failure }
            throw flaw.error
        } catch {
            throw failure
        }
    }
}

extension KeyFileFlaw {
    fileprivate init(_ flaw: PassphraseFlaw) {
        self =
            switch flaw {
            case .unknown(let scheme):
                .otherEncryption(
                    "\(scheme), and only PBES2 with AES or Triple DES and the schemes of PKCS#12 are known here: "
                        + "'openssl pkcs8 -topk8 -v2 aes-256-cbc -in FILE -out NEWFILE' writes it anew")
            case .tooExpensive(let work): .tooExpensive("the passphrase of the key asks for \(work)")
            case .damaged: .damaged
            }
    }
}
