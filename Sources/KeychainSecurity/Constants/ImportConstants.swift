public import Foundation

// Options of SecPKCS12Import.

/// The option `passphrase` holds the text that the file is under.
///
/// Anything but a text is `errSecParam`. A file whose passphrase is empty opens without the option.
nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase"
/// The option `keychain` names one of macOS's keychain files, which do not exist here. The option is ignored.
nonisolated(unsafe) public let kSecImportExportKeychain: CFString = "keychain"
/// The option `access` holds macOS's older access control. The option is ignored.
nonisolated(unsafe) public let kSecImportExportAccess: CFString = "access"
/// The option `memory` is a Boolean, which keeps the contents out of the keychain in spite of any other option.
///
/// Nothing is stored by default.
nonisolated(unsafe) public let kSecImportToMemoryOnly: CFString = "memory"

// The keys of the dictionary for each identity.

/// The key `label` holds the certificate's subject as a text. There is none for a subject without a name.
nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label"
/// The key `keyid` holds the digest of the public key, which is `kSecAttrApplicationLabel` of both halves.
nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid"
/// The key `trust` holds a ``SecTrust`` of the certificate by the basic policy, with the file's certificates.
nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust"
/// The key `chain` holds an array of ``SecCertificate``, the identity's first and then its issuers.
nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain"
/// The key `identity` holds the ``SecIdentity``.
nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity"
