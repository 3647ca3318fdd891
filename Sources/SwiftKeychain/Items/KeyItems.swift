public import FoundationEssentials
internal import KeychainModel

// MARK: Certificates

extension KeychainItem where Kind: KeychainCertificateKind {
    /// The version of X.509, where 3 is the usual one (`kSecAttrCertificateType`).
    public var certificateType: Int? {
        get { self[number: .certificateType] }
        set { self[number: .certificateType] = newValue }
    }

    /// The encoding of the certificate's bytes: 3 is DER (`kSecAttrCertificateEncoding`).
    public var certificateEncoding: Int? {
        get { self[number: .certificateEncoding] }
        set { self[number: .certificateEncoding] = newValue }
    }

    /// The name of the certificate's subject, in DER (`kSecAttrSubject`).
    public var subject: Data? {
        get { self[data: .subject] }
        set { self[data: .subject] = newValue }
    }

    /// The name of the certificate's issuer, in DER (`kSecAttrIssuer`).
    public var issuer: Data? {
        get { self[data: .issuer] }
        set { self[data: .issuer] = newValue }
    }

    /// The number that the issuer gave the certificate, as bytes (`kSecAttrSerialNumber`).
    public var serialNumber: Data? {
        get { self[data: .serialNumber] }
        set { self[data: .serialNumber] = newValue }
    }

    /// The identifier of the public key, as the certificate has it (`kSecAttrSubjectKeyID`).
    public var subjectKeyID: Data? {
        get { self[data: .subjectKeyID] }
        set { self[data: .subjectKeyID] = newValue }
    }

    /// SHA-1 of the public key (`kSecAttrPublicKeyHash`).
    ///
    /// An identity is found where it is the ``applicationLabel`` of a private key.
    public var publicKeyHash: Data? {
        get { self[data: .publicKeyHash] }
        set { self[data: .publicKeyHash] = newValue }
    }
}

// MARK: Keys

extension KeychainItem where Kind: KeychainKeyKind {
    /// The bytes by which programs find the key, by default SHA-1 of the public key (`kSecAttrApplicationLabel`).
    ///
    /// The library does not compute them: the program that adds the key does.
    public var applicationLabel: Data? {
        get { self[data: .applicationLabel] }
        set { self[data: .applicationLabel] = newValue }
    }

    /// The program's own name for the key, as bytes (`kSecAttrApplicationTag`).
    public var applicationTag: Data? {
        get { self[data: .applicationTag] }
        set { self[data: .applicationTag] = newValue }
    }

    /// The length of the key in bits (`kSecAttrKeySizeInBits`).
    public var keySizeInBits: Int? {
        get { self[number: .keySizeInBits] }
        set { self[number: .keySizeInBits] = newValue }
    }

    /// The length of the key in bits without parity bits (`kSecAttrEffectiveKeySize`).
    public var effectiveKeySize: Int? {
        get { self[number: .effectiveKeySize] }
        set { self[number: .effectiveKeySize] = newValue }
    }

    /// The date from which the key may be used (`kSecAttrStartDate`). The library does not enforce it.
    public var startDate: Date? {
        get { self[date: .startDate] }
        set { self[date: .startDate] = newValue }
    }

    /// The date until which the key may be used (`kSecAttrEndDate`). The library does not enforce it, or remove the key
    /// then.
    public var endDate: Date? {
        get { self[date: .endDate] }
        set { self[date: .endDate] = newValue }
    }

    /// Whether the key is kept (`kSecAttrIsPermanent`). The library does not enforce it.
    public var isPermanent: Bool? {
        get { self[flag: .isPermanent] }
        set { self[flag: .isPermanent] = newValue }
    }

    /// Whether the key is private (`kSecAttrIsPrivate`). ``keyClass`` decides whether it makes an identity.
    public var isPrivate: Bool? {
        get { self[flag: .isPrivate] }
        set { self[flag: .isPrivate] = newValue }
    }

    /// Whether the attributes may be changed (`kSecAttrIsModifiable`). The library enforces neither this nor the flags
    /// below.
    public var isModifiable: Bool? {
        get { self[flag: .isModifiable] }
        set { self[flag: .isModifiable] = newValue }
    }

    /// Whether the key leaves the keychain only in encrypted form (`kSecAttrIsSensitive`). It is a remark of the
    /// program's.
    public var isSensitive: Bool? {
        get { self[flag: .isSensitive] }
        set { self[flag: .isSensitive] = newValue }
    }

    /// Whether ``isSensitive`` was true from the beginning (`kSecAttrWasAlwaysSensitive`).
    public var wasAlwaysSensitive: Bool? {
        get { self[flag: .wasAlwaysSensitive] }
        set { self[flag: .wasAlwaysSensitive] = newValue }
    }

    /// Whether the key may leave the keychain (`kSecAttrIsExtractable`). It is a remark of the program's.
    public var isExtractable: Bool? {
        get { self[flag: .isExtractable] }
        set { self[flag: .isExtractable] = newValue }
    }

    /// Whether ``isExtractable`` was false from the beginning (`kSecAttrWasNeverExtractable`).
    public var wasNeverExtractable: Bool? {
        get { self[flag: .wasNeverExtractable] }
        set { self[flag: .wasNeverExtractable] = newValue }
    }

    /// Whether the key is for encrypting (`kSecAttrCanEncrypt`).
    public var canEncrypt: Bool? {
        get { self[flag: .canEncrypt] }
        set { self[flag: .canEncrypt] = newValue }
    }

    /// Whether the key is for decrypting (`kSecAttrCanDecrypt`).
    public var canDecrypt: Bool? {
        get { self[flag: .canDecrypt] }
        set { self[flag: .canDecrypt] = newValue }
    }

    /// Whether the key is for deriving other keys (`kSecAttrCanDerive`).
    public var canDerive: Bool? {
        get { self[flag: .canDerive] }
        set { self[flag: .canDerive] = newValue }
    }

    /// Whether the key is for signing (`kSecAttrCanSign`).
    public var canSign: Bool? {
        get { self[flag: .canSign] }
        set { self[flag: .canSign] = newValue }
    }

    /// Whether the key is for verifying signatures (`kSecAttrCanVerify`).
    public var canVerify: Bool? {
        get { self[flag: .canVerify] }
        set { self[flag: .canVerify] = newValue }
    }

    /// Whether the key is for signatures that contain the message (`kSecAttrCanSignRecover`).
    public var canSignRecover: Bool? {
        get { self[flag: .canSignRecover] }
        set { self[flag: .canSignRecover] = newValue }
    }

    /// Whether the key is for verifying signatures that contain the message (`kSecAttrCanVerifyRecover`).
    public var canVerifyRecover: Bool? {
        get { self[flag: .canVerifyRecover] }
        set { self[flag: .canVerifyRecover] = newValue }
    }

    /// Whether the key is for wrapping other keys (`kSecAttrCanWrap`).
    public var canWrap: Bool? {
        get { self[flag: .canWrap] }
        set { self[flag: .canWrap] = newValue }
    }

    /// Whether the key is for unwrapping other keys (`kSecAttrCanUnwrap`).
    public var canUnwrap: Bool? {
        get { self[flag: .canUnwrap] }
        set { self[flag: .canUnwrap] = newValue }
    }

    /// The half of a key pair that the key is, or a symmetric key (`kSecAttrKeyClass`).
    ///
    /// It is `nil` if none is named, or if the stored number has no case.
    public var keyClass: Keychain.KeyClass? {
        get { self[number: .keyClass].flatMap(Keychain.KeyClass.init) }
        set { self[number: .keyClass] = newValue?.rawValue }
    }
}

extension KeychainItem where Kind == KeychainItemKinds.Key {
    /// The algorithm of the key (`kSecAttrKeyType`), by Apple's number: 42 is RSA, and 73 is elliptic curves.
    public var keyType: Int? {
        get { self[number: .type] }
        set { self[number: .type] = newValue }
    }

    /// The program that made the key, as the number of a four-character code (`kSecAttrKeyCreator`).
    public var creator: Int? {
        get { self[number: .creator] }
        set { self[number: .creator] = newValue }
    }
}

extension KeychainItem where Kind == KeychainItemKinds.Identity {
    /// The bytes of the certificate, in DER. They are a copy, which is not erased.
    ///
    /// It is `nil` if the search did not ask for secrets. ``KeychainItem/secret`` has the bytes of the private key.
    public var certificate: Data? { certificateBytes?.copyData() }
}

extension Keychain {
    /// The half of a key pair that a key is. The raw values are those of Apple's `kSecAttrKeyClass…` constants.
    public enum KeyClass: Int, Sendable, Hashable, CaseIterable {
        /// The public half of a pair.
        case publicKey = 0
        /// The private half of a pair. Together with its certificate it makes an identity.
        case privateKey = 1
        /// A key that is no half of a pair.
        case symmetric = 2
    }
}
