package import FoundationEssentials
package import KeychainCrypto
package import KeychainModel

extension KeyAlgorithm.Signature {
    /// Whether keys of a kind and size have this algorithm.
    package func isSupported(by kind: AsymmetricKey.Kind, bitCount: Int) -> Bool {
        switch self {
        case .rsaRaw, .rsaPKCS1Raw, .rsaPKCS1: kind == .rsa
        // Two digests and two more bytes (RFC 8017, section 9.1.1).
        case .rsaPSS(_, let digest): kind == .rsa && bitCount >= 16 * digest.byteCount + 9
        case .ecdsaRaw, .ecdsa: kind == .ec
        }
    }

    /// The input of the operation with the key.
    ///
    /// - Throws: `.parameter` for a digest of another length than its function's.
    fileprivate func digest(of input: Data) throws(KeychainError) -> Data {
        switch self {
        case .rsaRaw, .rsaPKCS1Raw, .ecdsaRaw: return input
        case .rsaPKCS1(let form, let digest), .rsaPSS(let form, let digest), .ecdsa(_, let form, let digest):
            if form == .message { return digest.digest(of: input) }
            guard input.count == digest.byteCount else {
                throw KeychainError(
                    .parameter,
                    message: "a digest of \(digest.rawValue) has \(digest.byteCount) bytes, and not \(input.count)")
            }
            return input
        }
    }
}

extension AsymmetricKey {
    /// - Throws: `errSecVerifyFailed` if the signature is another one's, or none at all; `.parameter` for an algorithm of
    ///   another kind of key, and a digest of another length.
    package func requireSignature(
        _ signature: Data, of input: Data, _ algorithm: KeyAlgorithm.Signature
    ) throws(KeychainError) {
        let isRight =
            switch self {
            case .rsa(let key): try key.verify(signature, of: input, algorithm)
            case .ec(let key): try key.verify(signature, of: input, algorithm)
            }
        guard isRight else {
            let verifyFailed = KeychainError.Code(status: -67808)
            throw KeychainError(verifyFailed, message: "the signature is not that of this key for these bytes")
        }
    }
}

extension RSAKey {
    package func sign(_ input: Data, _ algorithm: KeyAlgorithm.Signature) throws(KeychainError) -> Data {
        let digest = try algorithm.digest(of: input)
        switch algorithm {
        case .rsaRaw: return try rawSignature(of: try paddedToBlock(digest), .none)
        case .rsaPKCS1Raw: return try rawSignature(of: digest, .pkcs1)
        case .rsaPKCS1(_, let function): return try signature(ofDigest: digest, function)
        case .rsaPSS(_, let function): return try probabilisticSignature(ofDigest: digest, function)
        case .ecdsaRaw, .ecdsa: throw .otherKind
        }
    }

    package func verify(
        _ signature: Data, of input: Data, _ algorithm: KeyAlgorithm.Signature
    ) throws(KeychainError) -> Bool {
        let digest = try algorithm.digest(of: input)
        switch algorithm {
        case .rsaRaw:
            // Apple's keychain compares the rest without the zeros in front.
            let content = try? rawContent(of: signature, .none)
            return content.map { Data($0.drop { $0 == 0 }) } == digest
        case .rsaPKCS1Raw: return (try? rawContent(of: signature, .pkcs1)) == digest
        case .rsaPKCS1(_, let function): return isSignature(signature, ofDigest: digest, function)
        case .rsaPSS(_, let function): return isProbabilisticSignature(signature, ofDigest: digest, function)
        case .ecdsaRaw, .ecdsa: throw .otherKind
        }
    }

    /// Zeros in front, up to the size of the modulus: the same number.
    func paddedToBlock(_ bytes: Data) throws(KeychainError) -> Data {
        guard bytes.count <= blockByteCount else {
            throw KeychainError(.parameter, message: "the key takes at most \(blockByteCount) bytes at once")
        }
        return Data(count: blockByteCount - bytes.count) + bytes
    }
}

extension CurvePrivateKey {
    package func sign(_ input: Data, _ algorithm: KeyAlgorithm.Signature) throws(KeychainError) -> Data {
        let form = try algorithm.form
        // Only as many bytes count as the curve has, and a daemon takes no more than a digest has.
        let signature = try signature(ofDigest: try algorithm.digest(of: input).prefix(curve.fieldByteCount))
        return form == .x962 ? ECDSASignature.der(signature) : signature
    }
}

extension ECKey {
    package func verify(
        _ signature: Data, of input: Data, _ algorithm: KeyAlgorithm.Signature
    ) throws(KeychainError) -> Bool {
        let form = try algorithm.form
        let digest = try algorithm.digest(of: input)
        guard form == .x962 else { return isSignature(signature, ofDigest: digest) }
        guard let numbers = ECDSASignature.numbers(inDER: signature, fieldByteCount: curve.fieldByteCount) else {
            return false
        }
        return isSignature(numbers, ofDigest: digest)
    }
}

extension KeyAlgorithm.Signature {
    fileprivate var form: KeyAlgorithm.SignatureForm {
        get throws(KeychainError) {
            switch self {
            case .ecdsaRaw(let form), .ecdsa(let form, _, _): return form
            case .rsaRaw, .rsaPKCS1Raw, .rsaPKCS1, .rsaPSS: throw .otherKind
            }
        }
    }
}

extension KeychainError {
    static var otherKind: KeychainError {
        KeychainError(.parameter, message: "the algorithm is for keys of another kind")
    }
}
