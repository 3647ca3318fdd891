#if JWTKit
    public import Foundation
    public import JWTKit
    public import KeychainSecurity
    internal import KeychainSigning

    /// A signer makes tokens (JWT) with a key of the keychain.
    ///
    /// The collection `JWTKeyCollection` of jwt-kit takes no keys but its own, so it cannot sign with one of the
    /// keychain: ``token(_:header:serializer:)`` does. A verifier needs the public half alone, which ``publicKeyPEM``
    /// shows, and which a collection takes (``JWTKit/JWTKeyCollection/add(publicHalfOf:kid:)``).
    ///
    ///     let signer = try KeychainTokenSigner(key)
    ///     let token = try await signer.token(payload)
    ///
    ///     let keys = try await JWTKeyCollection().add(publicHalfOf: signer)
    ///     let verified = try await keys.verify(token, as: Payload.self)
    public struct KeychainTokenSigner: JWTAlgorithm {
        /// An algorithm of RFC 7518, under the name that tokens give it.
        public enum Algorithm: String, CaseIterable, Sendable {
            /// ECDSA on the curve P-256 with SHA-256. A key in the engine has this algorithm.
            case es256 = "ES256"
            /// ECDSA on the curve P-384 with SHA-384.
            case es384 = "ES384"
            /// ECDSA on the curve P-521 with SHA-512.
            case es512 = "ES512"
            /// RSA with PKCS#1 v1.5 and SHA-256.
            case rs256 = "RS256"
            /// RSA with PKCS#1 v1.5 and SHA-384.
            case rs384 = "RS384"
            /// RSA with PKCS#1 v1.5 and SHA-512.
            case rs512 = "RS512"
            /// RSA with PSS and SHA-256.
            case ps256 = "PS256"
            /// RSA with PSS and SHA-384.
            case ps384 = "PS384"
            /// RSA with PSS and SHA-512.
            case ps512 = "PS512"
        }

        /// The algorithm of the tokens.
        public let algorithm: Algorithm
        private let key: SigningKey

        /// Makes a signer of a private half, or of a public one, which verifies only.
        ///
        /// - Parameters:
        ///   - key: The key.
        ///   - algorithm: The algorithm of the tokens. If it is nil, the curve's own, and `RS256` for an RSA key.
        /// - Throws: An error of `NSOSStatusErrorDomain` with the code `errSecParam` for an algorithm that is for other
        ///   keys.
        public init(_ key: SecKey, algorithm: Algorithm? = nil) throws {
            let key = try SigningKey(key)
            let algorithm = algorithm ?? Algorithm(default: key.kind)
            guard algorithm.fits(key.kind) else {
                throw SigningKey.refusal(errSecParam, "\(algorithm.rawValue) is for other keys than \(key.key)")
            }
            self.key = key
            self.algorithm = algorithm
        }

        /// The name of the algorithm, as tokens give it.
        public var name: String { algorithm.rawValue }

        /// The public half as `SubjectPublicKeyInfo` in PEM, for verifiers.
        public var publicKeyPEM: String { key.publicKeyPEM }

        /// Signs bytes, and blocks the thread for as long as the keychain takes, or a person whom it asks.
        ///
        /// - Throws: The error of `SecKeyCreateSignature(_:_:_:_:)`.
        public func sign(_ plaintext: some DataProtocol) throws -> [UInt8] {
            Array(try key.signature(of: plaintext, algorithm.ofKeys))
        }

        /// Checks a signature with the public half, without a question to a person.
        public func verify(_ signature: some DataProtocol, signs plaintext: some DataProtocol) throws -> Bool {
            try key.verify(signature, of: plaintext, algorithm.ofKeys)
        }

        /// Makes a token, and signs it on a thread that no other task waits for.
        ///
        /// - Parameters:
        ///   - payload: The content of the token.
        ///   - header: Fields of the header, such as `kid`. The algorithm is always this signer's.
        ///   - serializer: The serializer of header and payload.
        /// - Returns: The token in its compact form.
        /// - Throws: The error of `SecKeyCreateSignature(_:_:_:_:)` or of the serializer.
        public func token(
            _ payload: some JWTPayload, header: JWTHeader = JWTHeader(),
            serializer: some JWTSerializer = DefaultJWTSerializer()
        ) async throws -> String {
            var header = header
            header.alg = name
            header = try await serializer.makeHeader(from: header, key: self)
            let signed =
                try Self.base64URL(serializer.jsonEncoder.encode(header)) + Data(".".utf8)
                + serializer.serialize(payload, header: header)
            let signature = try await key.signatureAwaited(of: signed, algorithm.ofKeys)
            return String(decoding: signed + Data(".".utf8) + Self.base64URL(signature), as: UTF8.self)
        }

        /// RFC 4648, section 5, without padding.
        private static func base64URL(_ data: Data) -> Data {
            Data(
                data.base64EncodedString().utf8.compactMap { character in
                    switch character {
                    case UInt8(ascii: "+"): UInt8(ascii: "-")
                    case UInt8(ascii: "/"): UInt8(ascii: "_")
                    case UInt8(ascii: "="): nil
                    default: character
                    }
                })
        }
    }

    extension KeychainTokenSigner.Algorithm {
        fileprivate init(default kind: SigningKey.Kind) {
            switch kind {
            case .rsa: self = .rs256
            case .p256: self = .es256
            case .p384: self = .es384
            case .p521: self = .es512
            }
        }

        fileprivate func fits(_ kind: SigningKey.Kind) -> Bool {
            switch self {
            case .es256: kind == .p256
            case .es384: kind == .p384
            case .es512: kind == .p521
            case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: kind == .rsa
            }
        }

        /// The key's algorithm for it. A token has the two numbers of ECDSA one after the other, and no DER.
        fileprivate var ofKeys: SecKeyAlgorithm {
            switch self {
            case .es256: .ecdsaSignatureMessageRFC4754SHA256
            case .es384: .ecdsaSignatureMessageRFC4754SHA384
            case .es512: .ecdsaSignatureMessageRFC4754SHA512
            case .rs256: .rsaSignatureMessagePKCS1v15SHA256
            case .rs384: .rsaSignatureMessagePKCS1v15SHA384
            case .rs512: .rsaSignatureMessagePKCS1v15SHA512
            case .ps256: .rsaSignatureMessagePSSSHA256
            case .ps384: .rsaSignatureMessagePSSSHA384
            case .ps512: .rsaSignatureMessagePSSSHA512
            }
        }
    }

    extension JWTKeyCollection {
        /// Adds the public half of a signer's key, so that the collection verifies what the signer signs.
        ///
        /// - Parameters:
        ///   - signer: The signer.
        ///   - kid: The name under which tokens mention the key.
        /// - Returns: The collection.
        /// - Throws: The error of jwt-kit, which refuses RSA keys of fewer than 2,048 bits.
        @discardableResult
        public func add(publicHalfOf signer: KeychainTokenSigner, kid: JWKIdentifier? = nil) throws -> Self {
            let pem = signer.publicKeyPEM
            return switch signer.algorithm {
            case .es256: add(ecdsa: try ES256PublicKey(pem: pem), kid: kid)
            case .es384: add(ecdsa: try ES384PublicKey(pem: pem), kid: kid)
            case .es512: add(ecdsa: try ES512PublicKey(pem: pem), kid: kid)
            case .rs256: add(rsa: try Insecure.RSA.PublicKey(pem: pem), digestAlgorithm: .sha256, kid: kid)
            case .rs384: add(rsa: try Insecure.RSA.PublicKey(pem: pem), digestAlgorithm: .sha384, kid: kid)
            case .rs512: add(rsa: try Insecure.RSA.PublicKey(pem: pem), digestAlgorithm: .sha512, kid: kid)
            case .ps256: add(pss: try Insecure.RSA.PublicKey(pem: pem), digestAlgorithm: .sha256, kid: kid)
            case .ps384: add(pss: try Insecure.RSA.PublicKey(pem: pem), digestAlgorithm: .sha384, kid: kid)
            case .ps512: add(pss: try Insecure.RSA.PublicKey(pem: pem), digestAlgorithm: .sha512, kid: kid)
            }
        }
    }
#endif
