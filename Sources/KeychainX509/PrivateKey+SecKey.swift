#if X509
    internal import Foundation
    public import KeychainSecurity
    internal import KeychainSigning
    internal import SwiftASN1
    public import X509

    extension Certificate.PrivateKey {
        /// Makes the private key of a certificate, or of a request for one, from a key of the keychain.
        ///
        /// A key in the engine signs where the keychain is. The signature blocks the thread, and if the access control
        /// asks a person, for as long as the person takes. The `async` initializers of `Certificate` and
        /// `CertificateSigningRequest` block another thread instead, so those are for servers.
        ///
        /// The private key refuses to be written, in DER and in PEM, wherever it is. A program that means to export a
        /// software key calls `SecKeyCopyExternalRepresentation(_:_:)`.
        ///
        /// - Parameter key: A private half: RSA, or on a curve.
        /// - Throws: An error of `NSOSStatusErrorDomain` with the code `errSecParam` for a public half.
        public init(_ key: SecKey) throws { self.init(try CertificateKey(key)) }
    }

    struct CertificateKey: CustomPrivateKey, CustomStringConvertible {
        private let key: SigningKey
        let publicKey: Certificate.PublicKey

        init(_ key: SecKey) throws {
            let key = try SigningKey(key)
            self.key = key
            publicKey = try Certificate.PublicKey(derEncoded: key.subjectPublicKeyInfo)
            guard let algorithm = defaultSignatureAlgorithm.ofKeys, key.canSign(algorithm) else {
                throw SigningKey.refusal(errSecParam, "the key can sign no certificate: \(key.key)")
            }
        }

        var description: String { key.key.description }

        var defaultSignatureAlgorithm: Certificate.SignatureAlgorithm {
            switch key.kind {
            case .rsa: .sha256WithRSAEncryption
            case .p256: .ecdsaWithSHA256
            case .p384: .ecdsaWithSHA384
            case .p521: .ecdsaWithSHA512
            }
        }

        var supportedSignatureAlgorithms: [Certificate.SignatureAlgorithm] {
            switch key.kind {
            case .rsa: [.sha256WithRSAEncryption, .sha384WithRSAEncryption, .sha512WithRSAEncryption]
            case .p256, .p384, .p521: [.ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512]
            }
        }

        func signSynchronously(
            bytes: some DataProtocol, signatureAlgorithm: Certificate.SignatureAlgorithm
        ) throws -> Certificate.Signature {
            let algorithm = try Self.algorithm(signatureAlgorithm)
            return try Self.signature(key.signature(of: bytes, algorithm), signatureAlgorithm)
        }

        func signAsynchronously(
            bytes: some DataProtocol & Sendable, signatureAlgorithm: Certificate.SignatureAlgorithm
        ) async throws -> Certificate.Signature {
            let algorithm = try Self.algorithm(signatureAlgorithm)
            return try Self.signature(
                await key.signatureAwaited(of: Data(bytes), algorithm), signatureAlgorithm)
        }

        private static func algorithm(_ algorithm: Certificate.SignatureAlgorithm) throws -> SecKeyAlgorithm {
            guard let algorithm = algorithm.ofKeys else {
                throw SigningKey.refusal(errSecParam, "keys of the keychain do not sign certificates with \(algorithm)")
            }
            return algorithm
        }

        private static func signature(
            _ bytes: Data, _ algorithm: Certificate.SignatureAlgorithm
        ) throws -> Certificate.Signature {
            try Certificate.Signature(
                signatureAlgorithm: algorithm, signatureBytes: ASN1BitString(bytes: ArraySlice(bytes)))
        }

        static let defaultPEMDiscriminator = "PRIVATE KEY"

        /// Fails: a key that signs through the keychain has no bytes to write.
        func serialize(into coder: inout DER.Serializer) throws {
            throw SigningKey.refusal(errSecUnimplemented, "a key of the keychain is not written: \(key.key)")
        }
    }

    extension Certificate.SignatureAlgorithm {
        /// The key's algorithm for it. Certificates hand over the message, and no digest.
        fileprivate var ofKeys: SecKeyAlgorithm? {
            switch self {
            case .sha256WithRSAEncryption: .rsaSignatureMessagePKCS1v15SHA256
            case .sha384WithRSAEncryption: .rsaSignatureMessagePKCS1v15SHA384
            case .sha512WithRSAEncryption: .rsaSignatureMessagePKCS1v15SHA512
            case .ecdsaWithSHA256: .ecdsaSignatureMessageX962SHA256
            case .ecdsaWithSHA384: .ecdsaSignatureMessageX962SHA384
            case .ecdsaWithSHA512: .ecdsaSignatureMessageX962SHA512
            default: nil
            }
        }
    }
#endif
