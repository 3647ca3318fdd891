public import Foundation

// The class of an item: the one key that every request needs, unless a reference tells the class.

/// The class says which kind of item a dictionary is about.
///
/// The value is one of the `kSecClass…` constants. Every dictionary but the new values of an update needs the class,
/// unless a persistent reference tells the class. A class that does not exist is `errSecNoSuchClass`, and none at all
/// is `errSecParam`.
nonisolated(unsafe) public let kSecClass: CFString = "class"
/// A generic password is any secret of a service, and its class has the value `genp`.
///
/// An item is unique by account, service, access group, synchronizability, view hint and token.
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"
/// An internet password is the secret of an account on a server, and its class has the value `inet`.
///
/// An item is unique by account, server, protocol, port, path, security domain, authentication type, access group,
/// synchronizability, view hint and token.
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"
/// A certificate is stored under the value `cert`, by its attributes and its bytes.
///
/// An item is unique by type, issuer, serial number, access group, synchronizability, view hint and token. The keychain
/// reads none of the attributes from the bytes: the caller gives them. Certificates are always available by default.
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"
/// A cryptographic key is stored under the value `keys`, by its attributes and its bytes.
///
/// An item is unique by class of key, application label and tag, creator, type, both sizes, both dates, access group,
/// synchronizability, view hint and token. The keychain does not look into the bytes and computes nothing with them.
nonisolated(unsafe) public let kSecClassKey: CFString = "keys"
/// An identity is a certificate together with its private key, and its class has the value `idnt`.
///
/// An identity is not stored as such: it is found where the public key's hash of a certificate equals the application
/// label of a private key. An add of an identity is `errSecParam`. A delete removes the certificate, and the key unless
/// another certificate needs it. An identity is locked if either half is locked.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"
