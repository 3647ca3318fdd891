internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// An operation with a key, and the methods by which it is done.
struct KeyOperation<Method> {
    /// The beginning of the algorithms' names.
    fileprivate let prefix: String
    fileprivate let usual: (AsymmetricKey.Kind) -> KeyAlgorithm
    /// nil: the algorithm is for another operation.
    fileprivate let method: (KeyAlgorithm) -> Method?

    /// The names of the algorithms, without the prefix of the operation.
    var names: [String] { KeyAlgorithm.all.filter { method($0) != nil }.map { short($0.name) } }

    /// The method of a name, or the usual one for the key.
    ///
    /// - Throws: `.parameter` if the key does not support it. The message lists the algorithms that the key supports.
    func method(_ name: String?, of key: AsymmetricKey) throws(KeychainError) -> Method {
        let choices = KeyAlgorithm.all.filter { method($0) != nil && $0.isSupported(by: key) }
        guard !choices.isEmpty else {
            throw KeychainError(.parameter, message: "an RSA key agrees on no secret: only keys on a curve do")
        }
        let wanted = name.map { prefix + $0 } ?? usual(key.kind).name
        if let method = choices.first(where: { $0.name == wanted }).flatMap(method) { return method }
        let kind = key.kind == .rsa ? "RSA key" : "key on a curve"
        throw KeychainError(
            .parameter,
            message: "this \(kind) of \(key.bitCount) bits has no algorithm \(short(wanted)), but "
                + choices.map { short($0.name) }.joined(separator: ", "))
    }

    private func short(_ name: String) -> String { String(name.dropFirst(prefix.count)) }
}

extension KeyOperation<KeyAlgorithm.Signature> {
    static var sign: Self {
        Self(prefix: "algid:sign:") {
            .signature($0 == .rsa ? .rsaPKCS1(.message, .sha256) : .ecdsa(.x962, .message, .sha256))
        } method: {
            if case .signature(let method) = $0 { method } else { nil }
        }
    }
}

extension KeyOperation<KeyAlgorithm.Encryption> {
    static var encrypt: Self {
        Self(prefix: "algid:encrypt:") {
            let ecies = ECIES(digest: .sha256, isCofactor: true, derivesNonce: true)
            return .encryption($0 == .rsa ? .rsaOAEPWithGCM(.sha256) : .ecies(ecies))
        } method: {
            if case .encryption(let method) = $0 { method } else { nil }
        }
    }
}

extension KeyOperation<KeyAlgorithm.Exchange> {
    static var agree: Self {
        Self(prefix: "algid:keyexchange:") { _ in
            .exchange(.x963(isCofactor: true, .sha256))
        } method: {
            if case .exchange(let method) = $0 { method } else { nil }
        }
    }
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
