import Foundation
import KeychainSecurity
import Testing

/// What a function for keys reports instead of a result.
struct Failure: Error, Equatable {
    var code: Int
    var domain = "NSOSStatusErrorDomain"

    static let unimplemented = Self(code: -4)
    static let parameter = Self(code: -50)
    static let authenticationFailed = Self(code: -25293)
    static let notFound = Self(code: -25300)
    static let duplicate = Self(code: -25299)
    static let interactionNotAllowed = Self(code: -25308)
    static let decode = Self(code: -26275)
    static let missingEntitlement = Self(code: -34018)
    static let verifyFailed = Self(code: -67808)
    static let declined = Self(code: -2, domain: "com.apple.LocalAuthentication")
    static let invalidContext = Self(code: -10, domain: "com.apple.LocalAuthentication")
    static let corruptedKey = Self(code: -3, domain: "CryptoTokenKit")
    static let notInteractive = Self(code: -1004, domain: "com.apple.LocalAuthentication")
}

/// Runs a function for keys. It has either a result or an error, and never both.
func result<R>(
    at location: SourceLocation = #_sourceLocation,
    _ body: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> R?
) throws -> R {
    var error: Unmanaged<CFError>?
    let result = withUnsafeMutablePointer(to: &error) { body($0) }
    guard let failure = error?.takeRetainedValue() else {
        return try #require(result, "there is neither a result nor an error", sourceLocation: location)
    }
    if result != nil { Issue.record("there are both a result and an error", sourceLocation: location) }
    #expect(!failure.localizedDescription.isEmpty, sourceLocation: location)
    throw Failure(code: failure.code, domain: failure.domain)
}

/// An algorithm by its raw value, without the beginning that all have.
func algorithm(_ name: String) -> SecKeyAlgorithm { SecKeyAlgorithm(rawValue: "algid:\(name)" as CFString) }

/// `SecKeyGeneratePair` and its contemporaries are deprecated, and tested nevertheless: through this protocol without a
/// warning.
protocol FormerCalls: SendableMetatype {
    static func generatePair(
        _ parameters: Item, _ publicKey: UnsafeMutablePointer<SecKey?>?, _ privateKey: UnsafeMutablePointer<SecKey?>?
    ) -> OSStatus
    static func sign(_ key: SecKey, _ padding: SecPadding, _ bytes: Data, room: Int) -> (OSStatus, Data)
    static func verify(_ key: SecKey, _ padding: SecPadding, _ bytes: Data, _ signature: Data) -> OSStatus
    static func encrypt(_ key: SecKey, _ padding: SecPadding, _ bytes: Data, room: Int) -> (OSStatus, Data)
    static func decrypt(_ key: SecKey, _ padding: SecPadding, _ bytes: Data, room: Int) -> (OSStatus, Data)
    static var ecdsaRFC4754: SecKeyAlgorithm { get }
}

let former: any FormerCalls.Type = Former.self

private enum Former: FormerCalls {
    @available(*, deprecated)
    static func generatePair(
        _ parameters: Item, _ publicKey: UnsafeMutablePointer<SecKey?>?, _ privateKey: UnsafeMutablePointer<SecKey?>?
    ) -> OSStatus {
        SecKeyGeneratePair(parameters as CFDictionary, publicKey, privateKey)
    }

    @available(*, deprecated)
    static func sign(_ key: SecKey, _ padding: SecPadding, _ bytes: Data, room: Int) -> (OSStatus, Data) {
        call(SecKeyRawSign, key, padding, bytes, room)
    }

    @available(*, deprecated)
    static func verify(_ key: SecKey, _ padding: SecPadding, _ bytes: Data, _ signature: Data) -> OSStatus {
        let (bytes, signature) = ([UInt8](bytes), [UInt8](signature))
        return SecKeyRawVerify(key, padding, bytes, bytes.count, signature, signature.count)
    }

    @available(*, deprecated)
    static func encrypt(_ key: SecKey, _ padding: SecPadding, _ bytes: Data, room: Int) -> (OSStatus, Data) {
        call(SecKeyEncrypt, key, padding, bytes, room)
    }

    @available(*, deprecated)
    static func decrypt(_ key: SecKey, _ padding: SecPadding, _ bytes: Data, room: Int) -> (OSStatus, Data) {
        call(SecKeyDecrypt, key, padding, bytes, room)
    }

    @available(*, deprecated)
    static var ecdsaRFC4754: SecKeyAlgorithm { .ecdsaSignatureRFC4754 }

    private typealias Call = (
        SecKey, SecPadding, UnsafePointer<UInt8>, Int, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>
    ) -> OSStatus

    /// What a call writes into a buffer of the size given, and one byte behind it nothing.
    private static func call(
        _ body: Call, _ key: SecKey, _ padding: SecPadding, _ bytes: Data, _ room: Int
    ) -> (OSStatus, Data) {
        var buffer = [UInt8](repeating: 0xa5, count: room + 1)
        var count = room
        let status = body(key, padding, [UInt8](bytes), bytes.count, &buffer, &count)
        #expect(buffer[room] == 0xa5)
        return (status, Data(buffer.prefix(status == errSecSuccess ? count : 0)))
    }
}

// MARK: - Keys as tests write them

extension SecKey {
    static func make(_ parameters: Item) throws -> SecKey {
        try result { SecKeyCreateRandomKey(parameters as CFDictionary, $0) }
    }

    static func make(_ type: CFString, _ bits: Int, _ others: Item = [:]) throws -> SecKey {
        try make(([kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits] as Item).with(others))
    }

    static func read(_ bytes: Data, _ attributes: Item) throws -> SecKey {
        try result { SecKeyCreateWithData(bytes as NSData, attributes as CFDictionary, $0) }
    }

    static func read(_ bytes: Data, _ type: CFString, _ keyClass: CFString) throws -> SecKey {
        try read(bytes, [kSecAttrKeyType: type, kSecAttrKeyClass: keyClass])
    }

    var publicKey: SecKey { get throws { try #require(SecKeyCopyPublicKey(self)) } }
    /// PKCS#1's or X9.63's.
    var bytes: Data { get throws { try result { SecKeyCopyExternalRepresentation(self, $0) } as Data } }
    var blockSize: Int { SecKeyGetBlockSize(self) }
    var attributes: Attributes { get throws { try #require(SecKeyCopyAttributes(self) as? Attributes) } }

    func supports(_ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(self, operation, algorithm)
    }

    func sign(_ bytes: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try result { SecKeyCreateSignature(self, algorithm, bytes as NSData, $0) } as Data
    }

    /// - Throws: if the signature is not the right one.
    func verify(_ signature: Data, of bytes: Data, _ algorithm: SecKeyAlgorithm) throws {
        _ = try result {
            SecKeyVerifySignature(self, algorithm, bytes as NSData, signature as NSData, $0) ? true : nil
        }
    }

    func encrypt(_ bytes: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try result { SecKeyCreateEncryptedData(self, algorithm, bytes as NSData, $0) } as Data
    }

    func decrypt(_ bytes: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try result { SecKeyCreateDecryptedData(self, algorithm, bytes as NSData, $0) } as Data
    }

    func agree(with peer: SecKey, _ algorithm: SecKeyAlgorithm, _ parameters: Item = [:]) throws -> Data {
        try result { SecKeyCopyKeyExchangeResult(self, algorithm, peer, parameters as CFDictionary, $0) } as Data
    }
}
