import Foundation
import KeychainSecurity

/// Items of every class, each with a secret of its own.
///
/// They are made anew on every use, because a dictionary of `Any` cannot be shared between tests.
enum Fixtures {
    static let secret = bytes("p")

    static var generic: Item {
        [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecAttrService: "s", kSecValueData: secret]
    }

    static var internet: Item {
        [
            kSecClass: kSecClassInternetPassword, kSecAttrServer: "members.example", kSecAttrAccount: "smith",
            kSecAttrPort: 80, kSecAttrProtocol: kSecAttrProtocolHTTP,
            kSecAttrAuthenticationType: kSecAttrAuthenticationTypeDefault, kSecValueData: bytes("walnut"),
        ]
    }

    static let keyHash = Data(repeating: 0x42, count: 20)
    static let issuer = Data([0x31, 0x0d, 0x30, 0x0b, 0x06, 0x03, 0x55, 0x04, 0x03, 0x0c, 0x04]) + bytes("ROOT")
    static let certificateBytes = Data([0x30, 0x01, 0x00])

    /// A certificate by its attributes. The bytes are no X.509: without a reference nobody parses them.
    static var certificate: Item {
        [
            kSecClass: kSecClassCertificate, kSecAttrCertificateType: 3, kSecAttrCertificateEncoding: 3,
            kSecAttrIssuer: issuer, kSecAttrSerialNumber: Data([0x01]), kSecAttrSubject: bytes("leaf"),
            kSecAttrPublicKeyHash: keyHash, kSecAttrLabel: "L", kSecValueData: certificateBytes,
        ]
    }

    /// The private key that the certificate belongs to.
    static var privateKey: Item {
        [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecAttrApplicationLabel: keyHash,
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256, kSecAttrLabel: "L",
            kSecValueData: bytes("key"),
        ]
    }

    static var identity: Item { [kSecClass: kSecClassIdentity] }

    /// One item of every class that has rows of its own.
    static var everyStored: [Item] { [generic, internet, certificate, privateKey] }

    static var everyClass: [CFString] {
        [kSecClassGenericPassword, kSecClassInternetPassword, kSecClassCertificate, kSecClassKey, kSecClassIdentity]
    }

    /// Every protection that needs no passcode.
    static var everyProtection: [CFString] {
        [
            kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
            kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            kSecAttrAccessibleAlwaysThisDeviceOnly,
        ]
    }
}

extension Item {
    /// The class and the attributes, without the secret: a query for the item.
    var query: Item { without(kSecValueData) }
}

/// Codes that have no public name.
enum Code {
    static var tombstone: CFString { "tomb" }
    static var digest: CFString { "sha1" }
    static var multiUser: CFString { "musr" }
    static var uuid: CFString { "UUID" }
    static var persistentReference: CFString { "persistref" }
    static var appClip: CFString { "clip" }
}
