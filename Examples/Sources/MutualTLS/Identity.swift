import Foundation
import KeychainNIOSSL
import NIOSSL
import Security

/// A certificate of the keychain and its private key.
struct Identity {
    struct Failure: LocalizedError {
        let status: OSStatus

        var errorDescription: String? { SecCopyErrorMessageString(status, nil) as String? }
    }

    let certificate: NIOSSLCertificate
    let key: NIOSSLPrivateKey

    static func find(_ label: String) throws -> Identity {
        let query: [String: Any] = [
            kSecClass as String: kSecClassIdentity,
            kSecAttrLabel as String: label,
            kSecReturnRef as String: true,
        ]
        var item: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &item)
        guard status == errSecSuccess else { throw Failure(status: status) }
        return try Identity(item as! SecIdentity)
    }

    private init(_ identity: SecIdentity) throws {
        var (certificate, key): (SecCertificate?, SecKey?) = (nil, nil)
        SecIdentityCopyCertificate(identity, &certificate)
        SecIdentityCopyPrivateKey(identity, &key)
        let bytes = SecCertificateCopyData(certificate!) as Data
        self.certificate = try NIOSSLCertificate(bytes: Array(bytes), format: .der)
        self.key = try NIOSSLPrivateKey(key!)
    }
}
