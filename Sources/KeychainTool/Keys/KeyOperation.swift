internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// The operations of algorithms, by the beginnings of their names.
enum KeyOperation: String {
    case sign, encrypt
    case agree = "keyexchange"

    private var prefix: String { "algid:\(rawValue):" }

    /// The names of the algorithms, without the prefix of the operation.
    var names: [String] { KeyAlgorithm.all.filter { $0.name.hasPrefix(prefix) }.map(short) }

    /// The algorithm of a name, or the usual one for the key.
    ///
    /// - Throws: `.parameter` if the key does not support it. The message lists the algorithms that the key supports.
    func algorithm(_ name: String?, of key: AsymmetricKey) throws(KeychainError) -> KeyAlgorithm {
        let choices = KeyAlgorithm.all.filter { $0.name.hasPrefix(prefix) && $0.isSupported(by: key) }
        guard !choices.isEmpty else {
            throw KeychainError(.parameter, message: "an RSA key agrees on no secret: only keys on a curve do")
        }
        let wanted = name.map { prefix + $0 } ?? usual(key.kind).name
        if let algorithm = choices.first(where: { $0.name == wanted }) { return algorithm }
        let kind = key.kind == .rsa ? "RSA key" : "key on a curve"
        throw KeychainError(
            .parameter,
            message: "this \(kind) of \(key.bitCount) bits has no algorithm \(short(wanted)), but "
                + choices.map { short($0.name) }.joined(separator: ", "))
    }

    private func usual(_ kind: AsymmetricKey.Kind) -> KeyAlgorithm {
        switch (self, kind) {
        case (.sign, .rsa): .signature(.rsaPKCS1(.message, .sha256))
        case (.sign, .ec): .signature(.ecdsa(.x962, .message, .sha256))
        case (.encrypt, .rsa): .encryption(.rsaOAEPWithGCM(.sha256))
        case (.encrypt, .ec): .encryption(.ecies(ECIES(digest: .sha256, isCofactor: true, derivesNonce: true)))
        case (.agree, _): .exchange(.x963(isCofactor: true, .sha256))
        }
    }

    private func short(_ algorithm: KeyAlgorithm) -> String { short(algorithm.name) }
    private func short(_ name: String) -> String { String(name.dropFirst(prefix.count)) }
}

extension KeyAlgorithm {
    fileprivate func isSupported(by key: AsymmetricKey) -> Bool {
        switch self {
        case .signature(let signature): signature.isSupported(by: key.kind, bitCount: key.bitCount)
        case .encryption(let encryption): encryption.isSupported(by: key.kind, blockByteCount: key.blockByteCount)
        case .exchange: key.kind == .ec
        }
    }
}
