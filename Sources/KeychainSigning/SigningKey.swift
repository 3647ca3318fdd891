internal import Dispatch
package import Foundation
package import KeychainSecurity
internal import SwiftASN1

/// A key as the adapters use it: its private half signs, wherever it is, and its public half is shown to others.
package struct SigningKey: Hashable, Sendable {
    package enum Kind: Sendable {
        case rsa, p256, p384, p521
    }

    package let key: SecKey
    package let kind: Kind
    /// `SubjectPublicKeyInfo` in DER: the public half as certificates have it.
    package let subjectPublicKeyInfo: [UInt8]

    /// The threads that signatures block, in place of the threads that serve connections and tasks.
    private static let threads = DispatchQueue(label: "swift-keychain.signing", attributes: .concurrent)

    /// - Parameter key: Either half.
    package init(_ key: SecKey) throws {
        var failure: Unmanaged<CFError>?
        guard let half = SecKeyCopyPublicKey(key) else {
            throw Self.refusal(errSecInternal, "the key has no public half")
        }
        guard let bytes = SecKeyCopyExternalRepresentation(half, &failure) else { throw Self.error(failure) }
        self.key = key
        kind =
            switch (SecKeyIsAlgorithmSupported(half, .verify, .ecdsaSignatureDigestX962), SecKeyGetBlockSize(half)) {
            case (false, _): .rsa
            case (true, 32): .p256
            case (true, 48): .p384
            default: .p521
            }
        subjectPublicKeyInfo = try kind.subjectPublicKeyInfo(Data(referencing: bytes))
    }

    /// `SubjectPublicKeyInfo` in PEM.
    package var publicKeyPEM: String { PEMDocument(type: "PUBLIC KEY", derBytes: subjectPublicKeyInfo).pemString }

    package func canSign(_ algorithm: SecKeyAlgorithm) -> Bool { SecKeyIsAlgorithmSupported(key, .sign, algorithm) }

    /// Blocks the thread for as long as the keychain takes, or a person whom it asks.
    ///
    /// - Throws: The error of `SecKeyCreateSignature(_:_:_:_:)`.
    package func signature(of message: some DataProtocol, _ algorithm: SecKeyAlgorithm) throws -> Data {
        var failure: Unmanaged<CFError>?
        guard let signature = SecKeyCreateSignature(key, algorithm, NSData(data: Data(message)), &failure) else {
            throw Self.error(failure)
        }
        return Data(referencing: signature)
    }

    /// Signs on another thread, which calls back.
    package func sign(
        _ message: Data, _ algorithm: SecKeyAlgorithm,
        _ completion: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        Self.threads.async { completion(Result { try signature(of: message, algorithm) }) }
    }

    /// Signs on another thread, so that the task does not hold up others.
    package func signatureAwaited(of message: Data, _ algorithm: SecKeyAlgorithm) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            sign(message, algorithm) { continuation.resume(with: $0) }
        }
    }

    /// - Throws: The error of `SecKeyVerifySignature(_:_:_:_:_:)`, unless the signature is merely another one's.
    package func verify(
        _ signature: some DataProtocol, of message: some DataProtocol, _ algorithm: SecKeyAlgorithm
    ) throws -> Bool {
        guard let half = SecKeyCopyPublicKey(key) else {
            throw Self.refusal(errSecInternal, "the key has no public half")
        }
        var failure: Unmanaged<CFError>?
        let isRight = SecKeyVerifySignature(
            half, algorithm, NSData(data: Data(message)), NSData(data: Data(signature)), &failure)
        if isRight { return true }
        let error = Self.error(failure)
        guard (error as NSError).code == Int(errSecVerifyFailed) else { throw error }
        return false
    }

    /// An error as the functions for keys report it.
    package static func refusal(_ status: OSStatus, _ message: String) -> any Error {
        NSError(domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: message])
    }

    private static func error(_ failure: Unmanaged<CFError>?) -> any Error {
        failure?.takeRetainedValue() ?? refusal(errSecInternal, "the keychain failed and did not say why")
    }
}

extension SigningKey.Kind {
    /// - Parameter bytes: The output of `SecKeyCopyExternalRepresentation(_:_:)` for a public half.
    fileprivate func subjectPublicKeyInfo(_ bytes: Data) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                switch curve {
                case let curve?:
                    try serializer.serialize(ASN1ObjectIdentifier.AlgorithmIdentifier.idEcPublicKey)
                    try serializer.serialize(curve)
                case nil:
                    try serializer.serialize(ASN1ObjectIdentifier.AlgorithmIdentifier.rsaEncryption)
                    try serializer.serialize(ASN1Null())
                }
            }
            try serializer.serialize(ASN1BitString(bytes: ArraySlice(bytes)))
        }
        return serializer.serializedBytes
    }

    private var curve: ASN1ObjectIdentifier? {
        switch self {
        case .rsa: nil
        case .p256: .NamedCurves.secp256r1
        case .p384: .NamedCurves.secp384r1
        case .p521: .NamedCurves.secp521r1
        }
    }
}
