#if NIOSSL
    internal import Foundation
    public import KeychainSecurity
    internal import KeychainSigning
    internal import NIOCore
    public import NIOSSL

    extension NIOSSLPrivateKey {
        /// Makes the private key of a server, or of a client with a certificate, from a key of the keychain.
        ///
        /// Each handshake asks the key for one signature, and waits for it on a thread that is no event loop's. A key
        /// in the engine signs where the keychain is. If its access control asks a person, the handshake waits for the
        /// person. A signature that the keychain refuses fails the handshake.
        ///
        /// The key serves TLS 1.3, and every key exchange of TLS 1.2 with a signature. The RSA key exchange, which
        /// wants a decryption instead, is refused.
        ///
        /// - Parameter key: A private half: RSA of 2,048 bits or more, or on a curve.
        /// - Throws: An error of `NSOSStatusErrorDomain` with the code `errSecParam` for a key that can sign no
        ///   handshake.
        public convenience init(_ key: SecKey) throws { self.init(customPrivateKey: try HandshakeKey(key)) }
    }

    struct HandshakeKey: NIOSSLCustomPrivateKey, Hashable {
        private let key: SigningKey
        let signatureAlgorithms: [SignatureAlgorithm]

        init(_ key: SecKey) throws {
            let key = try SigningKey(key)
            self.key = key
            signatureAlgorithms = Self.order(key.kind).filter { $0.ofKeys.map { key.canSign($0) } ?? false }
            guard !signatureAlgorithms.isEmpty else {
                throw SigningKey.refusal(errSecParam, "the key can sign no handshake: \(key.key)")
            }
        }

        /// The algorithms that the peer may choose from, best first. TLS 1.3 names one digest for each curve.
        private static func order(_ kind: SigningKey.Kind) -> [SignatureAlgorithm] {
            switch kind {
            case .rsa:
                [
                    .rsaPssRsaeSha256, .rsaPssRsaeSha384, .rsaPssRsaeSha512, .rsaPkcs1Sha256, .rsaPkcs1Sha384,
                    .rsaPkcs1Sha512,
                ]
            case .p256: [.ecdsaSecp256R1Sha256]
            case .p384: [.ecdsaSecp384R1Sha384]
            case .p521: [.ecdsaSecp521R1Sha512]
            }
        }

        func sign(channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer) -> EventLoopFuture<ByteBuffer>
        {
            guard let algorithm = algorithm.ofKeys else {
                return channel.eventLoop.makeFailedFuture(
                    SigningKey.refusal(errSecParam, "keys do not sign with the algorithm \(algorithm.rawValue) of TLS"))
            }
            let promise = channel.eventLoop.makePromise(of: ByteBuffer.self)
            key.sign(Data(data.readableBytesView), algorithm) { result in
                promise.completeWith(result.map { ByteBuffer(bytes: $0) })
            }
            return promise.futureResult
        }

        func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
            channel.eventLoop.makeFailedFuture(
                SigningKey.refusal(errSecUnimplemented, "a key of the keychain signs handshakes and decrypts none"))
        }
    }

    extension SignatureAlgorithm {
        /// The key's algorithm for it. TLS hands over the message, and no digest.
        fileprivate var ofKeys: SecKeyAlgorithm? {
            switch self {
            case .rsaPkcs1Sha256: .rsaSignatureMessagePKCS1v15SHA256
            case .rsaPkcs1Sha384: .rsaSignatureMessagePKCS1v15SHA384
            case .rsaPkcs1Sha512: .rsaSignatureMessagePKCS1v15SHA512
            case .rsaPssRsaeSha256: .rsaSignatureMessagePSSSHA256
            case .rsaPssRsaeSha384: .rsaSignatureMessagePSSSHA384
            case .rsaPssRsaeSha512: .rsaSignatureMessagePSSSHA512
            case .ecdsaSecp256R1Sha256: .ecdsaSignatureMessageX962SHA256
            case .ecdsaSecp384R1Sha384: .ecdsaSignatureMessageX962SHA384
            case .ecdsaSecp521R1Sha512: .ecdsaSignatureMessageX962SHA512
            default: nil
            }
        }
    }
#endif
