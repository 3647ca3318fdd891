public import Foundation

// Attributes of keys.

nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls"
/// The digest of the public key, the same for both halves of a pair.
nonisolated(unsafe) public let kSecAttrApplicationLabel: CFString = "klbl"
nonisolated(unsafe) public let kSecAttrApplicationTag: CFString = "atag"
nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type"
nonisolated(unsafe) public let kSecAttrKeySizeInBits: CFString = "bsiz"
nonisolated(unsafe) public let kSecAttrEffectiveKeySize: CFString = "esiz"
nonisolated(unsafe) public let kSecAttrIsPermanent: CFString = "perm"
nonisolated(unsafe) public let kSecAttrIsSensitive: CFString = "sens"
nonisolated(unsafe) public let kSecAttrIsExtractable: CFString = "extr"
nonisolated(unsafe) public let kSecAttrCanEncrypt: CFString = "encr"
nonisolated(unsafe) public let kSecAttrCanDecrypt: CFString = "decr"
nonisolated(unsafe) public let kSecAttrCanDerive: CFString = "drve"
nonisolated(unsafe) public let kSecAttrCanSign: CFString = "sign"
nonisolated(unsafe) public let kSecAttrCanVerify: CFString = "vrfy"
nonisolated(unsafe) public let kSecAttrCanWrap: CFString = "wrap"
nonisolated(unsafe) public let kSecAttrCanUnwrap: CFString = "unwp"

// Values of `kSecAttrKeyClass`.

nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0"
nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1"
nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2"

// Values of `kSecAttrKeyType`. They are numbers in text form, and come back from a search as numbers.

nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42"
nonisolated(unsafe) public let kSecAttrKeyTypeDSA: CFString = "43"
nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73"
nonisolated(unsafe) public let kSecAttrKeyTypeECDSA: CFString = "73"
nonisolated(unsafe) public let kSecAttrKeyTypeAES: CFString = "2147483649"
nonisolated(unsafe) public let kSecAttrKeyTypeDES: CFString = "14"
nonisolated(unsafe) public let kSecAttrKeyType3DES: CFString = "17"
nonisolated(unsafe) public let kSecAttrKeyTypeRC2: CFString = "23"
nonisolated(unsafe) public let kSecAttrKeyTypeRC4: CFString = "25"
nonisolated(unsafe) public let kSecAttrKeyTypeCAST: CFString = "56"

// Attributes for the derivation of a key from a password.

nonisolated(unsafe) public let kSecAttrPRF: CFString = "prf"
nonisolated(unsafe) public let kSecAttrSalt: CFString = "salt"
nonisolated(unsafe) public let kSecAttrRounds: CFString = "rounds"
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"

// The two halves in the parameters of a key pair.

nonisolated(unsafe) public let kSecPrivateKeyAttrs: CFString = "private"
nonisolated(unsafe) public let kSecPublicKeyAttrs: CFString = "public"

// Attributes that Apple's public headers do not show but its keychain knows.

nonisolated(unsafe) public let kSecAttrKeyCreator: CFString = "crtr"
nonisolated(unsafe) public let kSecAttrStartDate: CFString = "sdat"
nonisolated(unsafe) public let kSecAttrEndDate: CFString = "edat"
nonisolated(unsafe) public let kSecAttrIsPrivate: CFString = "priv"
nonisolated(unsafe) public let kSecAttrIsModifiable: CFString = "modi"
nonisolated(unsafe) public let kSecAttrWasAlwaysSensitive: CFString = "asen"
nonisolated(unsafe) public let kSecAttrWasNeverExtractable: CFString = "next"
nonisolated(unsafe) public let kSecAttrCanSignRecover: CFString = "snrc"
nonisolated(unsafe) public let kSecAttrCanVerifyRecover: CFString = "vyrc"
