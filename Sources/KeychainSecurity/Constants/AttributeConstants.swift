public import Foundation

// Attributes of every class.

/// One of the `kSecAttrAccessible…` values; an item without one is available while unlocked.
nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn"
/// A ``SecAccessControl``. With ``kSecAttrAccessible`` beside it, both must say the same.
nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc"
/// The group of programs that share the item; without one, an add goes to the caller's first group.
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp"
/// Whether the item is meant to leave the device. A search without it finds the other items only.
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"
/// Set when an item is added, whatever the caller gives.
nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat"
/// Set when an item is added or changed, whatever the caller gives.
nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat"
nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl"
nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht"
/// The device that holds the key; part of an item's identity.
nonisolated(unsafe) public let kSecAttrTokenID: CFString = "tkid"
nonisolated(unsafe) public let kSecAttrPersistantReference: CFString = "persistref"
nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref"

// Values of attributes of every class.

/// In a search: items that are meant to leave the device, and those that are not.
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"
nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
/// The group that every program may read and none may write.
nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token"

// Attributes of both kinds of passwords.

/// With the service, or the server and its kin, this makes a password unique.
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"
nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc"
nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt"
nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr"
nonisolated(unsafe) public let kSecAttrType: CFString = "type"
nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi"
nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega"

// Attributes of generic passwords.

nonisolated(unsafe) public let kSecAttrService: CFString = "svce"
/// Not part of what makes an item unique, whatever the name suggests.
nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena"

// Attributes of certificates, all read from the certificate itself.

nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp"
nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc"
nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj"
nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr"
nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr"
nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid"
/// Equal to the ``kSecAttrApplicationLabel`` of the certificate's key.
nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh"

// Attributes that Apple's public headers do not show but its keychain knows.

nonisolated(unsafe) public let kSecAttrAlias: CFString = "alis"
nonisolated(unsafe) public let kSecAttrScriptCode: CFString = "scrp"
nonisolated(unsafe) public let kSecAttrHasCustomIcon: CFString = "cusi"
