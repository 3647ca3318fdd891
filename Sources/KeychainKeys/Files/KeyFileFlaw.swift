internal import KeychainModel

/// Why a file's key is not read. It becomes a ``KeychainError`` where the file was given.
enum KeyFileFlaw: Error {
    /// A key, but of a kind that is not known here. The text names it.
    case otherKind(String)
    /// The passphrase is used otherwise than by PBES2. The text names the encryption, and says what to do.
    case otherEncryption(String)
    /// More work than a key in a file is worth.
    case tooExpensive(String)
    /// The text names the content in place of a key.
    case noKey(String)
    case damaged

    var error: KeychainError {
        switch self {
        case .otherKind(let name):
            KeychainError(
                .parameter,
                message: "the file has a key of the kind \(name): "
                    + "only RSA keys and keys on P-256, P-384 and P-521 are taken")
        case .otherEncryption(let advice):
            KeychainError(.parameter, message: "the key is under a passphrase by the encryption \(advice)")
        case .tooExpensive(let text), .noKey(let text): KeychainError(.parameter, message: text)
        case .damaged: KeychainError(.decode, message: "the file is damaged, or it is no file of a key")
        }
    }
}
