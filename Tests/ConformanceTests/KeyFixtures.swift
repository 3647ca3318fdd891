import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// Pairs of every kind. Making one takes a while, so each is made once.
enum Pair: String, CaseIterable, Sendable {
    case rsa512, rsa1024, rsa2048, rsa4096, p256, p384, p521

    static let curves: [Pair] = [.p256, .p384, .p521]

    var bits: Int { Int(rawValue.drop { !$0.isNumber && $0 != "p" }.filter(\.isNumber))! }
    var isCurve: Bool { Self.curves.contains(self) }
    var type: CFString { isCurve ? kSecAttrKeyTypeECSECPrimeRandom : kSecAttrKeyTypeRSA }

    /// The private half.
    var key: SecKey {
        switch self {
        case .rsa512: Self.keys.rsa512
        case .rsa1024: Self.keys.rsa1024
        case .rsa2048: Self.keys.rsa2048
        case .rsa4096: Self.large
        case .p256: Self.keys.p256
        case .p384: Self.keys.p384
        case .p521: Self.keys.p521
        }
    }

    var publicKey: SecKey { get throws { try key.publicKey } }

    /// The forms that OpenSSL reads.
    var openSSLPrivate: Data { get throws { isCurve ? OpenSSL.sec1(try key.bytes) : try key.bytes } }
    var openSSLPublic: Data {
        get throws {
            let bytes = try publicKey.bytes
            return isCurve ? OpenSSL.publicKeyInfo(point: bytes) : OpenSSL.publicKeyInfo(rsa: bytes)
        }
    }

    private struct Keys {
        let rsa512, rsa1024, rsa2048, p256, p384, p521: SecKey
    }

    private static let keys: Keys = {
        func make(_ pair: Pair) -> SecKey { try! SecKey.make(pair.type, pair.bits) }  // nothing could be tested without
        return Keys(
            rsa512: make(.rsa512), rsa1024: make(.rsa1024), rsa2048: make(.rsa2048), p256: make(.p256),
            p384: make(.p384), p521: make(.p521))
    }()
    private static let large: SecKey = try! SecKey.make(kSecAttrKeyTypeRSA, 4096)
}

/// A hash function as Apple's names for algorithms spell it.
struct Hash: Sendable, CustomStringConvertible {
    let description: String
    let count: Int

    static let all = [
        Hash(description: "SHA1", count: 20), Hash(description: "SHA224", count: 28),
        Hash(description: "SHA256", count: 32), Hash(description: "SHA384", count: 48),
        Hash(description: "SHA512", count: 64),
    ]
    static let sha256 = all[2]

    /// OpenSSL's name.
    var name: String { description.lowercased() }

    func digest(of bytes: Data) throws -> Data { try OpenSSL.digest(name, of: bytes) }

    // MARK: Algorithms

    enum Input: String, CaseIterable { case message, digest }

    func pkcs1(_ input: Input) -> SecKeyAlgorithm { algorithm("sign:RSA:\(input.rawValue)-PKCS1v15:\(self)") }
    /// Apple's text counts 24 bytes of salt for SHA-224.
    func pss(_ input: Input) -> SecKeyAlgorithm {
        algorithm("sign:RSA:\(input.rawValue)-PSS:\(self):\(self):\(count == 28 ? 24 : count)")
    }
    func x962(_ input: Input) -> SecKeyAlgorithm { algorithm("sign:ECDSA:\(input.rawValue)-X962:\(self)") }
    func rfc4754(_ input: Input) -> SecKeyAlgorithm { algorithm("sign:ECDSA:\(input.rawValue)-RFC4754:\(self)") }
    var oaep: SecKeyAlgorithm { algorithm("encrypt:RSA:OAEP:\(self)") }
    var envelope: SecKeyAlgorithm { algorithm("encrypt:RSA:OAEP:\(self):AESGCM") }
    func exchange(_ kind: String = "ECDH") -> SecKeyAlgorithm { algorithm("keyexchange:\(kind):KDFX963:\(self)") }
    func ecies(_ kind: String = "ECDH", variable: Bool) -> SecKeyAlgorithm {
        algorithm("encrypt:ECIES:\(kind):KDFX963:\(self):AESGCM\(variable ? "-KDFIV" : "")")
    }

    /// Whether there is ECIES with this function and a derived nonce.
    var hasVariableECIES: Bool { count > 20 }

    // MARK: Options of OpenSSL

    var pkcs1Options: [String] { ["rsa_padding_mode:pkcs1", "digest:\(name)"] }
    var pssOptions: [String] { pssOptions(salt: count) }
    func pssOptions(salt: Int) -> [String] {
        ["rsa_padding_mode:pss", "digest:\(name)", "rsa_mgf1_md:\(name)", "rsa_pss_saltlen:\(salt)"]
    }
    var oaepOptions: [String] { ["rsa_padding_mode:oaep", "rsa_oaep_md:\(name)", "rsa_mgf1_md:\(name)"] }
}

/// The algorithms as the constants name them, with the raw values of Apple's.
enum Algorithms {
    static let signatures: [(SecKeyAlgorithm, String)] = [
        (.rsaSignatureRaw, "sign:RSA:raw"),
        (.rsaSignatureDigestPKCS1v15Raw, "sign:RSA:digest-PKCS1v15"),
        (.rsaSignatureDigestPKCS1v15SHA1, "sign:RSA:digest-PKCS1v15:SHA1"),
        (.rsaSignatureDigestPKCS1v15SHA224, "sign:RSA:digest-PKCS1v15:SHA224"),
        (.rsaSignatureDigestPKCS1v15SHA256, "sign:RSA:digest-PKCS1v15:SHA256"),
        (.rsaSignatureDigestPKCS1v15SHA384, "sign:RSA:digest-PKCS1v15:SHA384"),
        (.rsaSignatureDigestPKCS1v15SHA512, "sign:RSA:digest-PKCS1v15:SHA512"),
        (.rsaSignatureMessagePKCS1v15SHA1, "sign:RSA:message-PKCS1v15:SHA1"),
        (.rsaSignatureMessagePKCS1v15SHA224, "sign:RSA:message-PKCS1v15:SHA224"),
        (.rsaSignatureMessagePKCS1v15SHA256, "sign:RSA:message-PKCS1v15:SHA256"),
        (.rsaSignatureMessagePKCS1v15SHA384, "sign:RSA:message-PKCS1v15:SHA384"),
        (.rsaSignatureMessagePKCS1v15SHA512, "sign:RSA:message-PKCS1v15:SHA512"),
        (.rsaSignatureDigestPSSSHA1, "sign:RSA:digest-PSS:SHA1:SHA1:20"),
        (.rsaSignatureDigestPSSSHA224, "sign:RSA:digest-PSS:SHA224:SHA224:24"),
        (.rsaSignatureDigestPSSSHA256, "sign:RSA:digest-PSS:SHA256:SHA256:32"),
        (.rsaSignatureDigestPSSSHA384, "sign:RSA:digest-PSS:SHA384:SHA384:48"),
        (.rsaSignatureDigestPSSSHA512, "sign:RSA:digest-PSS:SHA512:SHA512:64"),
        (.rsaSignatureMessagePSSSHA1, "sign:RSA:message-PSS:SHA1:SHA1:20"),
        (.rsaSignatureMessagePSSSHA224, "sign:RSA:message-PSS:SHA224:SHA224:24"),
        (.rsaSignatureMessagePSSSHA256, "sign:RSA:message-PSS:SHA256:SHA256:32"),
        (.rsaSignatureMessagePSSSHA384, "sign:RSA:message-PSS:SHA384:SHA384:48"),
        (.rsaSignatureMessagePSSSHA512, "sign:RSA:message-PSS:SHA512:SHA512:64"),
        (.ecdsaSignatureDigestRFC4754, "sign:ECDSA:digest-RFC4754"),
        (.ecdsaSignatureDigestRFC4754SHA1, "sign:ECDSA:digest-RFC4754:SHA1"),
        (.ecdsaSignatureDigestRFC4754SHA224, "sign:ECDSA:digest-RFC4754:SHA224"),
        (.ecdsaSignatureDigestRFC4754SHA256, "sign:ECDSA:digest-RFC4754:SHA256"),
        (.ecdsaSignatureDigestRFC4754SHA384, "sign:ECDSA:digest-RFC4754:SHA384"),
        (.ecdsaSignatureDigestRFC4754SHA512, "sign:ECDSA:digest-RFC4754:SHA512"),
        (.ecdsaSignatureMessageRFC4754SHA1, "sign:ECDSA:message-RFC4754:SHA1"),
        (.ecdsaSignatureMessageRFC4754SHA224, "sign:ECDSA:message-RFC4754:SHA224"),
        (.ecdsaSignatureMessageRFC4754SHA256, "sign:ECDSA:message-RFC4754:SHA256"),
        (.ecdsaSignatureMessageRFC4754SHA384, "sign:ECDSA:message-RFC4754:SHA384"),
        (.ecdsaSignatureMessageRFC4754SHA512, "sign:ECDSA:message-RFC4754:SHA512"),
        (.ecdsaSignatureDigestX962, "sign:ECDSA:digest-X962"),
        (.ecdsaSignatureDigestX962SHA1, "sign:ECDSA:digest-X962:SHA1"),
        (.ecdsaSignatureDigestX962SHA224, "sign:ECDSA:digest-X962:SHA224"),
        (.ecdsaSignatureDigestX962SHA256, "sign:ECDSA:digest-X962:SHA256"),
        (.ecdsaSignatureDigestX962SHA384, "sign:ECDSA:digest-X962:SHA384"),
        (.ecdsaSignatureDigestX962SHA512, "sign:ECDSA:digest-X962:SHA512"),
        (.ecdsaSignatureMessageX962SHA1, "sign:ECDSA:message-X962:SHA1"),
        (.ecdsaSignatureMessageX962SHA224, "sign:ECDSA:message-X962:SHA224"),
        (.ecdsaSignatureMessageX962SHA256, "sign:ECDSA:message-X962:SHA256"),
        (.ecdsaSignatureMessageX962SHA384, "sign:ECDSA:message-X962:SHA384"),
        (.ecdsaSignatureMessageX962SHA512, "sign:ECDSA:message-X962:SHA512"),
    ]

    static let encryptions: [(SecKeyAlgorithm, String)] = [
        (.rsaEncryptionRaw, "encrypt:RSA:raw"),
        (.rsaEncryptionPKCS1, "encrypt:RSA:PKCS1"),
        (.rsaEncryptionOAEPSHA1, "encrypt:RSA:OAEP:SHA1"),
        (.rsaEncryptionOAEPSHA224, "encrypt:RSA:OAEP:SHA224"),
        (.rsaEncryptionOAEPSHA256, "encrypt:RSA:OAEP:SHA256"),
        (.rsaEncryptionOAEPSHA384, "encrypt:RSA:OAEP:SHA384"),
        (.rsaEncryptionOAEPSHA512, "encrypt:RSA:OAEP:SHA512"),
        (.rsaEncryptionOAEPSHA1AESGCM, "encrypt:RSA:OAEP:SHA1:AESGCM"),
        (.rsaEncryptionOAEPSHA224AESGCM, "encrypt:RSA:OAEP:SHA224:AESGCM"),
        (.rsaEncryptionOAEPSHA256AESGCM, "encrypt:RSA:OAEP:SHA256:AESGCM"),
        (.rsaEncryptionOAEPSHA384AESGCM, "encrypt:RSA:OAEP:SHA384:AESGCM"),
        (.rsaEncryptionOAEPSHA512AESGCM, "encrypt:RSA:OAEP:SHA512:AESGCM"),
        (.eciesEncryptionStandardX963SHA1AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM"),
        (.eciesEncryptionStandardX963SHA224AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM"),
        (.eciesEncryptionStandardX963SHA256AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM"),
        (.eciesEncryptionStandardX963SHA384AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM"),
        (.eciesEncryptionStandardX963SHA512AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM"),
        (.eciesEncryptionStandardVariableIVX963SHA224AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV"),
        (.eciesEncryptionStandardVariableIVX963SHA256AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV"),
        (.eciesEncryptionStandardVariableIVX963SHA384AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV"),
        (.eciesEncryptionStandardVariableIVX963SHA512AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV"),
        (.eciesEncryptionCofactorX963SHA1AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM"),
        (.eciesEncryptionCofactorX963SHA224AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM"),
        (.eciesEncryptionCofactorX963SHA256AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM"),
        (.eciesEncryptionCofactorX963SHA384AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM"),
        (.eciesEncryptionCofactorX963SHA512AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM"),
        (.eciesEncryptionCofactorVariableIVX963SHA224AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV"),
        (.eciesEncryptionCofactorVariableIVX963SHA256AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV"),
        (.eciesEncryptionCofactorVariableIVX963SHA384AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV"),
        (.eciesEncryptionCofactorVariableIVX963SHA512AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV"),
    ]

    static let exchanges: [(SecKeyAlgorithm, String)] = [
        (.ecdhKeyExchangeStandard, "keyexchange:ECDH"),
        (.ecdhKeyExchangeStandardX963SHA1, "keyexchange:ECDH:KDFX963:SHA1"),
        (.ecdhKeyExchangeStandardX963SHA224, "keyexchange:ECDH:KDFX963:SHA224"),
        (.ecdhKeyExchangeStandardX963SHA256, "keyexchange:ECDH:KDFX963:SHA256"),
        (.ecdhKeyExchangeStandardX963SHA384, "keyexchange:ECDH:KDFX963:SHA384"),
        (.ecdhKeyExchangeStandardX963SHA512, "keyexchange:ECDH:KDFX963:SHA512"),
        (.ecdhKeyExchangeCofactor, "keyexchange:ECDHC"),
        (.ecdhKeyExchangeCofactorX963SHA1, "keyexchange:ECDHC:KDFX963:SHA1"),
        (.ecdhKeyExchangeCofactorX963SHA224, "keyexchange:ECDHC:KDFX963:SHA224"),
        (.ecdhKeyExchangeCofactorX963SHA256, "keyexchange:ECDHC:KDFX963:SHA256"),
        (.ecdhKeyExchangeCofactorX963SHA384, "keyexchange:ECDHC:KDFX963:SHA384"),
        (.ecdhKeyExchangeCofactorX963SHA512, "keyexchange:ECDHC:KDFX963:SHA512"),
    ]

    static let all = signatures + encryptions + exchanges
}

extension Data {
    /// The same with one bit changed.
    func flipping(_ place: Int) -> Data {
        var copy = Data(self)
        copy[place] ^= 1
        return copy
    }

    init(hex: String) {
        let digits = Array(hex)
        self.init(stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0..<$0 + 2]), radix: 16)! })
    }
}
