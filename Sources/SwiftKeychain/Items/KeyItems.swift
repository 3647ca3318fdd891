public import Foundation
internal import KeychainModel

// MARK: Certificates

extension KeychainItem where Kind: KeychainCertificateKind {
    /// The version of X.509.
    public var certificateType: Int? {
        get { self[number: .certificateType] }
        set { self[number: .certificateType] = newValue }
    }

    /// How it is encoded: 3 is DER.
    public var certificateEncoding: Int? {
        get { self[number: .certificateEncoding] }
        set { self[number: .certificateEncoding] = newValue }
    }

    /// The subject's name, in DER.
    public var subject: Data? {
        get { self[data: .subject] }
        set { self[data: .subject] = newValue }
    }

    /// The issuer's name, in DER.
    public var issuer: Data? {
        get { self[data: .issuer] }
        set { self[data: .issuer] = newValue }
    }

    /// The number that the issuer gave it.
    public var serialNumber: Data? {
        get { self[data: .serialNumber] }
        set { self[data: .serialNumber] = newValue }
    }

    /// The identifier of its public key, as the certificate has it.
    public var subjectKeyID: Data? {
        get { self[data: .subjectKeyID] }
        set { self[data: .subjectKeyID] = newValue }
    }

    /// SHA-1 of its public key: the ``applicationLabel`` of the private one.
    public var publicKeyHash: Data? {
        get { self[data: .publicKeyHash] }
        set { self[data: .publicKeyHash] = newValue }
    }
}

// MARK: Keys

extension KeychainItem where Kind: KeychainKeyKind {
    /// What finds the key: by default SHA-1 of the public key.
    public var applicationLabel: Data? {
        get { self[data: .applicationLabel] }
        set { self[data: .applicationLabel] = newValue }
    }

    /// The program's own name for the key.
    public var applicationTag: Data? {
        get { self[data: .applicationTag] }
        set { self[data: .applicationTag] = newValue }
    }

    /// How long it is.
    public var keySizeInBits: Int? {
        get { self[number: .keySizeInBits] }
        set { self[number: .keySizeInBits] = newValue }
    }

    /// How long it is without bits that check others.
    public var effectiveKeySize: Int? {
        get { self[number: .effectiveKeySize] }
        set { self[number: .effectiveKeySize] = newValue }
    }

    /// From when on it may be used. Nobody enforces it.
    public var startDate: Date? {
        get { self[date: .startDate] }
        set { self[date: .startDate] = newValue }
    }

    /// Until when it may be used. Nobody enforces it.
    public var endDate: Date? {
        get { self[date: .endDate] }
        set { self[date: .endDate] = newValue }
    }

    /// Whether the key is kept.
    public var isPermanent: Bool? {
        get { self[flag: .isPermanent] }
        set { self[flag: .isPermanent] = newValue }
    }

    /// Whether it is a private key.
    public var isPrivate: Bool? {
        get { self[flag: .isPrivate] }
        set { self[flag: .isPrivate] = newValue }
    }

    /// Whether its attributes may be changed. Nobody enforces it, as of all of these.
    public var isModifiable: Bool? {
        get { self[flag: .isModifiable] }
        set { self[flag: .isModifiable] = newValue }
    }

    /// Whether it leaves the keychain encrypted alone.
    public var isSensitive: Bool? {
        get { self[flag: .isSensitive] }
        set { self[flag: .isSensitive] = newValue }
    }

    /// Whether it has been so from the beginning.
    public var wasAlwaysSensitive: Bool? {
        get { self[flag: .wasAlwaysSensitive] }
        set { self[flag: .wasAlwaysSensitive] = newValue }
    }

    /// Whether it may leave the keychain.
    public var isExtractable: Bool? {
        get { self[flag: .isExtractable] }
        set { self[flag: .isExtractable] = newValue }
    }

    /// Whether it never could.
    public var wasNeverExtractable: Bool? {
        get { self[flag: .wasNeverExtractable] }
        set { self[flag: .wasNeverExtractable] = newValue }
    }

    /// Whether it is for encrypting.
    public var canEncrypt: Bool? {
        get { self[flag: .canEncrypt] }
        set { self[flag: .canEncrypt] = newValue }
    }

    /// Whether it is for decrypting.
    public var canDecrypt: Bool? {
        get { self[flag: .canDecrypt] }
        set { self[flag: .canDecrypt] = newValue }
    }

    /// Whether it is for deriving other keys.
    public var canDerive: Bool? {
        get { self[flag: .canDerive] }
        set { self[flag: .canDerive] = newValue }
    }

    /// Whether it is for signing.
    public var canSign: Bool? {
        get { self[flag: .canSign] }
        set { self[flag: .canSign] = newValue }
    }

    /// Whether it is for verifying signatures.
    public var canVerify: Bool? {
        get { self[flag: .canVerify] }
        set { self[flag: .canVerify] = newValue }
    }

    /// Whether it is for signing with recovery of the message.
    public var canSignRecover: Bool? {
        get { self[flag: .canSignRecover] }
        set { self[flag: .canSignRecover] = newValue }
    }

    /// Whether it is for verifying such signatures.
    public var canVerifyRecover: Bool? {
        get { self[flag: .canVerifyRecover] }
        set { self[flag: .canVerifyRecover] = newValue }
    }

    /// Whether it is for wrapping other keys.
    public var canWrap: Bool? {
        get { self[flag: .canWrap] }
        set { self[flag: .canWrap] = newValue }
    }

    /// Whether it is for unwrapping other keys.
    public var canUnwrap: Bool? {
        get { self[flag: .canUnwrap] }
        set { self[flag: .canUnwrap] = newValue }
    }

    /// Which half of a pair it is, or that it is none. nil: it is not said, or of another kind.
    public var keyClass: Keychain.KeyClass? {
        get { self[number: .keyClass].flatMap(Keychain.KeyClass.init) }
        set { self[number: .keyClass] = newValue?.rawValue }
    }
}

extension KeychainItem where Kind == KeychainItemKinds.Key {
    /// The algorithm that the key is for: the numbers of Apple's `kSecAttrKeyType…` constants (42 is RSA, 73 elliptic curves).
    public var keyType: Int? {
        get { self[number: .type] }
        set { self[number: .type] = newValue }
    }

    /// The program that made it.
    public var creator: Int? {
        get { self[number: .creator] }
        set { self[number: .creator] = newValue }
    }
}

extension KeychainItem where Kind == KeychainItemKinds.Identity {
    /// The certificate, in DER.
    public var certificate: Data? { certificateBytes?.copyData() }
}

extension Keychain {
    /// Which half of a pair a key is: the numbers of Apple's `kSecAttrKeyClass…` constants.
    public enum KeyClass: Int, Sendable, Hashable, CaseIterable {
        case publicKey = 0
        case privateKey = 1
        case symmetric = 2
    }
}
