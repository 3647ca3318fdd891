public import Foundation

// Attributes of every class.

/// The accessibility says in which states of the lock an item is available.
///
/// The code is `pdmn`. The value is one of the `kSecAttrAccessible…` constants, and any other text is `errSecParam`.
/// Certificates are always available by default, and all other items while the keychain is unlocked. (An item of the
/// group `com.apple.apsd` defaults to `kSecAttrAccessibleAlwaysThisDeviceOnly`.) A search can name the attribute, and
/// an update can change it. Two items cannot differ in the accessibility alone.
nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn"
/// The access control says when an item is available and which proof it asks of a person.
///
/// The code is `accc`. The value is a `SecAccessControl`, and any other object is `errSecParam`. Every item has an
/// access control, and results contain it. A search ignores the attribute as a condition. A dictionary with an
/// accessibility beside the access control is `errSecParam`, unless the control asks for nothing but that
/// accessibility.
nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc"
/// The access group names the programs that share an item.
///
/// The code is `agrp`. The value is text. An add without a group uses the first group of the program, and a search
/// without a group looks through all of its groups. A group that the program does not hold is
/// `errSecMissingEntitlement`. An update can move an item to another group. Two items may differ in the group alone.
/// Groups keep honest programs apart: they are no boundary between programs of one user.
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp"
/// The attribute marks an item as meant for other devices too, though nothing on Linux ever sends it.
///
/// The code is `sync`. The value is a Boolean, or a number 0 or 1, and results contain a number. A search without the
/// attribute finds only items that are not marked, unless it has a persistent reference. Two items may differ in the
/// mark alone. A marked item whose access control asks for a person is `errSecParam`.
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"
/// The keychain itself sets the date of creation when an item is added.
///
/// The code is `cdat`. The value is a date. An add ignores a date that the caller gives, but an update stores it. A
/// search compares dates exactly, and the store has no index for the date.
nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat"
/// The keychain itself sets the date of modification with every add and update.
///
/// The code is `mdat`. The value is a date. The keychain ignores a date that the caller wants to set. Every update
/// makes the date later than before, also while the clock stands still. A search compares dates exactly, and the store
/// has no index for the date.
nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat"
/// The item expires at this date: no call of any program finds it from then on.
///
/// The code is `xdat`, which Apple's keychain does not have: code for Apple's platforms has to leave the key out. The
/// value is a date in the future, or an `NSNull` to take the date away again. The date is exact to the millisecond, and
/// stands unencrypted in the store. An add or an update sets the date, and a dictionary of attributes contains it. A
/// query compares dates exactly, without an index. Every class has the attribute. Two items cannot differ in the date alone.
nonisolated(unsafe) public let kSecAttrExpirationDate: CFString = "xdat"
/// The label names an item for people, in every class.
///
/// The code is `labl`. The value is text, data or a number. The store has an index for the label. Two items cannot
/// differ in the label alone. The label of an identity is that of its certificate.
nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl"
/// The hint tells Apple's synchronization the kind of an item, and has no effect on Linux.
///
/// The code is `vwht`. The value is text. Every class has the attribute, without an index. Two items may differ in the
/// hint alone.
nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht"
/// The text names the token that holds an item's secret. The only token here is the engine.
///
/// The code is `tkid`. Every class has the attribute, without an index. Two items may differ in the token alone. In the
/// parameters of `SecKeyCreateRandomKey(_:_:)` it makes a key in the engine. Another item with a token's name is stored
/// like any other one. No export takes along an item with a token's name.
nonisolated(unsafe) public let kSecAttrTokenID: CFString = "tkid"
/// The older, misspelt name stands for `kSecAttrPersistentReference`.
nonisolated(unsafe) public let kSecAttrPersistantReference: CFString = "persistref"
/// The key `persistref` is an internal name of Apple's keychain, and no dictionary may contain it here.
///
/// A search, an add or a delete with the key is `errSecParam`, and new values with it are `errSecNoSuchAttr`. Programs
/// use `kSecReturnPersistentRef` and `kSecValuePersistentRef` instead.
nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref"

// Values of attributes of every class.

/// The value makes a search find synchronizable items and all others alike.
///
/// The text `syna` is a value of `kSecAttrSynchronizable`. An add with this value stores an item that is not
/// synchronizable.
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"
/// The text `com.apple.setoken` names the engine, which is here in the place of Apple's Secure Enclave.
///
/// A key with this value of `kSecAttrTokenID` is made and used in the engine, and never leaves it. With a daemon that is
/// another process, which keeps the key from every program of the user once a passcode is set. Embedded it is a convention: the engine is part of the
/// program. No hardware protects the key.
nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
/// The group `com.apple.token` belongs to hardware tokens: every program may search it and none may write to it.
///
/// An add, an update or a delete that names the group is `errSecMissingEntitlement`. The group is always empty on
/// Linux.
nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token"

// Attributes of both kinds of passwords.

/// The account names the user that a generic or internet password belongs to.
///
/// The code is `acct`. The value is text, data or a number, and empty text if an add gives none. The store has an index
/// for the account. Two passwords may differ in the account alone.
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"
/// The text describes the kind of a password for people, on generic and internet passwords.
///
/// The code is `desc`. The value is text, data or a number. The store has an index for the description. Two passwords
/// cannot differ in the description alone.
nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc"
/// The comment is a note for people, on generic and internet passwords.
///
/// The code is `icmt`. The value is text, data or a number. The store has an index for the comment. Two passwords
/// cannot differ in the comment alone. A secret does not belong here: a search for attributes returns comments.
nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt"
/// The number tells which program made a password, on generic and internet passwords.
///
/// The code is `crtr`. By custom the number is a code of four characters. The store has an index for the number. Two
/// passwords cannot differ in the creator alone. On keys the code belongs to `kSecAttrKeyCreator`.
nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr"
/// The number tells the type of a password, on generic and internet passwords.
///
/// The code is `type`. By custom the number is a code of four characters. The store has an index for the number. Two
/// passwords cannot differ in the type alone. On keys the code belongs to `kSecAttrKeyType`.
nonisolated(unsafe) public let kSecAttrType: CFString = "type"
/// The flag asks programs not to list a password, and nothing here acts on it.
///
/// The code is `invi`. The value is a number, and a Boolean becomes 0 or 1. Generic and internet passwords have the
/// flag, without an index. Searches find such items like all others.
nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi"
/// The flag says that no password is to be stored for an account, and nothing here acts on it.
///
/// The code is `nega`. The value is a number, and a Boolean becomes 0 or 1. Generic and internet passwords have the
/// flag, without an index.
nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega"

// Attributes of generic passwords.

/// The service names the purpose of a generic password, such as a program or a site.
///
/// The code is `svce`. The value is text, data or a number, and empty text if an add gives none. The store has an index
/// for the service. Two generic passwords may differ in the service alone. Internet passwords have no service.
nonisolated(unsafe) public let kSecAttrService: CFString = "svce"
/// The attribute holds anything that a program likes to keep beside a generic password.
///
/// The code is `gena`. The value is text, data or a number. The store has an index for the attribute. Two generic
/// passwords cannot differ in this attribute alone, although its name suggests that.
nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena"

// Attributes of certificates. The caller gives them: nothing is read from a certificate's bytes yet.

/// The number tells the version of a certificate, from 1 to 3 by custom.
///
/// The code is `ctyp`. An add without the attribute stores 0. The store has no index for the type. Two certificates may
/// differ in the type alone.
nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp"
/// The number tells the encoding of a certificate, which is 3 for DER by custom.
///
/// The code is `cenc`. The store has no index for the encoding. Two certificates cannot differ in the encoding alone.
nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc"
/// The data tell the name of a certificate's owner.
///
/// The code is `subj`. The keychain compares the bytes as they are and does not normalise names. The store has an index
/// for the subject. Two certificates cannot differ in the subject alone.
nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj"
/// The data tell the name of the authority that issued a certificate.
///
/// The code is `issr`. The keychain compares the bytes as they are and does not normalise names. The store has an index
/// for the issuer. An add without an issuer stores empty data. Two certificates may differ in the issuer alone.
nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr"
/// The data tell the serial number of a certificate, unique among those of its issuer.
///
/// The code is `slnr`. The store has an index for the number. An add without a number stores empty data. Two
/// certificates may differ in the serial number alone.
nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr"
/// The data identify the public key of a certificate, as its extension of that name does.
///
/// The code is `skid`. The store has an index for the identifier. Two certificates cannot differ in the identifier
/// alone.
nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid"
/// The data are a digest of the certificate's public key, and join the certificate with its private key.
///
/// The code is `pkhh`. An identity is found where this value equals the `kSecAttrApplicationLabel` of a private key.
/// The store has an index for the digest. Two certificates cannot differ in the digest alone.
nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh"

// Attributes that Apple's public headers do not show but its keychain knows.

/// The alias is a second name of an item, in every class.
///
/// The code is `alis`. The value is text, data or a number. The store has an index for the alias. Two items cannot
/// differ in the alias alone.
nonisolated(unsafe) public let kSecAttrAlias: CFString = "alis"
/// The number tells the writing system of a password's texts, and nothing here acts on it.
///
/// The code is `scrp`. Generic and internet passwords have the attribute, without an index.
nonisolated(unsafe) public let kSecAttrScriptCode: CFString = "scrp"
/// The flag says that a program has an icon of its own for a password, and nothing here acts on it.
///
/// The code is `cusi`. The value is a number, and a Boolean becomes 0 or 1. Generic and internet passwords have the
/// flag, without an index.
nonisolated(unsafe) public let kSecAttrHasCustomIcon: CFString = "cusi"
