public import Foundation

// Attributes of keys.

/// The class of a key tells public, private and symmetric keys apart.
///
/// The code is `kcls`. The value is one of the `kSecAttrKeyClass…` texts or its number. Results of searches contain the
/// number, and `SecKeyCopyAttributes(_:)` the text. An add without the class stores 0, which means a public key. The store has no index for the class. Two keys may
/// differ in the class alone.
nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls"
/// The application label identifies a key by a digest of its public half.
///
/// The code is `klbl`. The value is data: SHA-1 of the public half for a key that is added as an object (`kSecValueRef`), and
/// empty if an add of bytes gives none. An identity is found where the label of a private key equals the `kSecAttrPublicKeyHash` of a certificate. The store
/// has an index for the label. Two keys may differ in the label alone.
nonisolated(unsafe) public let kSecAttrApplicationLabel: CFString = "klbl"
/// The application tag is a name that a program gives to a key of its own.
///
/// The code is `atag`. The value is text, data or a number, and empty text if an add gives none. The store has an index
/// for the tag. Two keys may differ in the tag alone.
nonisolated(unsafe) public let kSecAttrApplicationTag: CFString = "atag"
/// The type of a key tells its algorithm.
///
/// The code is `type`. The value is one of the `kSecAttrKeyType…` texts or a number, and 0 if an add gives none. The
/// store has no index for the type. Two keys may differ in the type alone.
nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type"
/// The number tells the size of a key in bits.
///
/// The code is `bsiz`. An add of bytes without a size stores 0: the keychain does not look into a key's bytes. The store has no
/// index for the size. Two keys may differ in the size alone.
nonisolated(unsafe) public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// The number tells how many bits of a key carry its strength.
///
/// The code is `esiz`. An add without this size stores 0. The store has no index for this size. Two keys may differ in
/// this size alone.
nonisolated(unsafe) public let kSecAttrEffectiveKeySize: CFString = "esiz"
/// The flag says that a new key is to be stored, in the parameters of `SecKeyCreateRandomKey(_:_:)`.
///
/// The code is `perm`. The value is a number, and a Boolean becomes 0 or 1. In an item it says nothing. The store has no index for the flag.
nonisolated(unsafe) public let kSecAttrIsPermanent: CFString = "perm"
/// The flag says that the bytes of a key are to leave the keychain encrypted only, and nothing enforces it.
///
/// The code is `sens`. The value is a number, and a Boolean becomes 0 or 1. A search with `kSecReturnData` returns the
/// bytes for either value.
nonisolated(unsafe) public let kSecAttrIsSensitive: CFString = "sens"
/// The flag says whether the bytes of a key may leave the keychain, and nothing enforces it.
///
/// The code is `extr`. The value is a number, and a Boolean becomes 0 or 1. A search with `kSecReturnData` returns the
/// bytes for either value.
nonisolated(unsafe) public let kSecAttrIsExtractable: CFString = "extr"
/// The flag says that a key is meant for encrypting data.
///
/// The code is `encr`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrCanEncrypt: CFString = "encr"
/// The flag says that a key is meant for decrypting data.
///
/// The code is `decr`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrCanDecrypt: CFString = "decr"
/// The flag says that other keys may be derived from a key.
///
/// The code is `drve`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrCanDerive: CFString = "drve"
/// The flag says that a key is meant for making signatures.
///
/// The code is `sign`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrCanSign: CFString = "sign"
/// The flag says that a key is meant for checking signatures.
///
/// The code is `vrfy`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrCanVerify: CFString = "vrfy"
/// The flag says that a key is meant for encrypting other keys.
///
/// The code is `wrap`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrCanWrap: CFString = "wrap"
/// The flag says that a key is meant for decrypting other keys.
///
/// The code is `unwp`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrCanUnwrap: CFString = "unwp"

// Values of `kSecAttrKeyClass`.

/// A public key has the class `0`, which a search returns as the number 0.
nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0"
/// A private key has the class `1`, which a search returns as the number 1.
nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1"
/// A symmetric key has the class `2`, which a search returns as the number 2.
nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2"

// Values of `kSecAttrKeyType`. They are numbers in text form, and all but AES's come back from a search as numbers.

/// An RSA key has the type `42`, which a search returns as a number.
nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42"
/// A DSA key has the type `43`, which a search returns as a number.
nonisolated(unsafe) public let kSecAttrKeyTypeDSA: CFString = "43"
/// A key on one of the NIST prime curves has the type `73`, which a search returns as a number.
nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// The older name stands for `kSecAttrKeyTypeECSECPrimeRandom` and has the value `73`.
nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73"
/// The name for keys that sign stands for `kSecAttrKeyTypeECSECPrimeRandom` and has the value `73`.
nonisolated(unsafe) public let kSecAttrKeyTypeECDSA: CFString = "73"
/// An AES key has the type `2147483649`, which is too large for a 32-bit number and stays text.
nonisolated(unsafe) public let kSecAttrKeyTypeAES: CFString = "2147483649"
/// A DES key has the type `14`, which a search returns as a number.
nonisolated(unsafe) public let kSecAttrKeyTypeDES: CFString = "14"
/// A Triple-DES key has the type `17`, which a search returns as a number.
nonisolated(unsafe) public let kSecAttrKeyType3DES: CFString = "17"
/// An RC2 key has the type `23`, which a search returns as a number.
nonisolated(unsafe) public let kSecAttrKeyTypeRC2: CFString = "23"
/// An RC4 key has the type `25`, which a search returns as a number.
nonisolated(unsafe) public let kSecAttrKeyTypeRC4: CFString = "25"
/// A CAST key has the type `56`, which a search returns as a number.
nonisolated(unsafe) public let kSecAttrKeyTypeCAST: CFString = "56"

// Attributes for the derivation of a key from a password.

/// The key `prf` names a pseudo-random function, and is `errSecParam` in a dictionary of an item.
///
/// No function here derives keys from passwords.
nonisolated(unsafe) public let kSecAttrPRF: CFString = "prf"
/// The key `salt` names the salt of a derivation, and is `errSecNoSuchAttr` in a dictionary of an item.
///
/// No function here derives keys from passwords.
nonisolated(unsafe) public let kSecAttrSalt: CFString = "salt"
/// The key `rounds` names the number of rounds of a derivation, and is `errSecParam` in a dictionary of an item.
///
/// No function here derives keys from passwords.
nonisolated(unsafe) public let kSecAttrRounds: CFString = "rounds"
/// HMAC with SHA-1 has the value `hsha1`, which nothing here uses yet.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"
/// HMAC with SHA-224 has the value `hsha224`, which nothing here uses yet.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"
/// HMAC with SHA-256 has the value `hsha256`, which nothing here uses yet.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"
/// HMAC with SHA-384 has the value `hsha384`, which nothing here uses yet.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"
/// HMAC with SHA-512 has the value `hsha512`, which nothing here uses yet.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"

// The two halves in the parameters of a key pair.

/// The key `private` holds attributes of the private half in the parameters of `SecKeyCreateRandomKey(_:_:)`, and is
/// `errSecParam` in a dictionary of an item.
nonisolated(unsafe) public let kSecPrivateKeyAttrs: CFString = "private"
/// The key `public` holds attributes of the public half in the parameters of `SecKeyCreateRandomKey(_:_:)`, and is
/// `errSecParam` in a dictionary of an item.
nonisolated(unsafe) public let kSecPublicKeyAttrs: CFString = "public"

// Attributes that Apple's public headers do not show but its keychain knows.

/// The number tells which program made a key.
///
/// The code is `crtr`. An add without a creator stores 0. The store has no index for the creator. Two keys may differ
/// in the creator alone.
nonisolated(unsafe) public let kSecAttrKeyCreator: CFString = "crtr"
/// The date says from when on a key is meant to be used, and nothing here acts on it.
///
/// The code is `sdat`. An add without the date stores the beginning of 2001 (UTC). The store has no index for the date.
/// Two keys may differ in the date alone.
nonisolated(unsafe) public let kSecAttrStartDate: CFString = "sdat"
/// The date says until when a key is meant to be used, and nothing here acts on it.
///
/// The code is `edat`. An add without the date stores the beginning of 2001 (UTC). The store has no index for the date.
/// Two keys may differ in the date alone.
nonisolated(unsafe) public let kSecAttrEndDate: CFString = "edat"
/// The flag says that a key is private, but identities are found by `kSecAttrKeyClass` instead.
///
/// The code is `priv`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrIsPrivate: CFString = "priv"
/// The flag says that a key's attributes may change, and nothing enforces it.
///
/// The code is `modi`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrIsModifiable: CFString = "modi"
/// The flag says that a key has been sensitive from the beginning, as its maker claims.
///
/// The code is `asen`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrWasAlwaysSensitive: CFString = "asen"
/// The flag says that a key could never leave its keychain, as its maker claims.
///
/// The code is `next`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrWasNeverExtractable: CFString = "next"
/// The flag says that a key makes signatures that contain the signed data.
///
/// The code is `snrc`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrCanSignRecover: CFString = "snrc"
/// The flag says that a key checks signatures that contain the signed data.
///
/// The code is `vyrc`. The value is a number, and a Boolean becomes 0 or 1.
nonisolated(unsafe) public let kSecAttrCanVerifyRecover: CFString = "vyrc"
