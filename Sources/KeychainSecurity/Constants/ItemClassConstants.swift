public import Foundation

// The class of an item: the one key that every request needs, unless a reference tells the class.

nonisolated(unsafe) public let kSecClass: CFString = "class"
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"
nonisolated(unsafe) public let kSecClassKey: CFString = "keys"
/// A private key together with its certificate: not stored as such, but found where the two meet.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"
