import Foundation
import Report
import Security

/// An app keeps the identity that the server's administrator has sent, and gives it to its TLS layer.
private final class ClientIdentity {
    static let label = "client certificate"

    private(set) var identity: SecIdentity?
    private(set) var chain: [SecCertificate] = []

    func load(_ file: Data, passphrase: String) -> OSStatus {
        var result: CFArray?
        let options = [kSecImportExportPassphrase as String: passphrase]
        let status = SecPKCS12Import(file as NSData, options as CFDictionary, &result)
        guard status == errSecSuccess else { return status }
        guard let items = result as? [[String: AnyObject]], let first = items.first else { return errSecItemNotFound }
        identity = (first[kSecImportItemIdentity as String] as! SecIdentity)
        chain = first[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
        return status
    }

    /// What is there under the label gives way.
    func save() -> OSStatus {
        guard let identity else { return errSecParam }
        let known: [String: Any] = [
            kSecClass as String: kSecClassIdentity, kSecAttrLabel as String: Self.label,
        ]
        let removed = SecItemDelete(known as CFDictionary)
        guard removed == errSecSuccess || removed == errSecItemNotFound else { return removed }
        let item: [String: Any] = [kSecValueRef as String: identity, kSecAttrLabel as String: Self.label]
        return SecItemAdd(item as CFDictionary, nil)
    }

    static func saved() -> SecIdentity? {
        let query: [String: Any] = [
            kSecClass as String: kSecClassIdentity, kSecAttrLabel as String: label, kSecReturnRef as String: true,
            kSecMatchLimit as String: kSecMatchLimitOne,
        ]
        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
        return (result as! SecIdentity)
    }
}

func clientCertificate() throws {
    let file = Data(base64Encoded: clientFile, options: .ignoreUnknownCharacters) ?? Data()
    let client = ClientIdentity()
    tell("A wrong passphrase is told", client.load(file, passphrase: "wrong") == errSecAuthFailed)
    tell("The file opens", client.load(file, passphrase: "example") == errSecSuccess)
    let names = client.chain.map { SecCertificateCopySubjectSummary($0) as String? }
    tell("The chain is in order", names == ["client", "Example CA"])
    for _ in 0..<2 { tell("The identity is kept", client.save() == errSecSuccess) }
    guard let saved = ClientIdentity.saved() else { stop("there is no identity") }
    tell("It is found again", saved == client.identity)
    var key: SecKey?
    guard SecIdentityCopyPrivateKey(saved, &key) == errSecSuccess, let key else { stop("it has no key") }
    let nonce = Data("nonce".utf8) as CFData
    var error: Unmanaged<CFError>?
    guard let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, nonce, &error),
        let publicKey = SecCertificateCopyKey(client.chain[0])
    else { stop("the key does not sign") }
    let isValid = SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, nonce, signature, &error)
    tell("Its signature is the certificate's", isValid)
    tell("It is deleted", SecItemDelete([kSecValueRef: saved] as CFDictionary) == errSecSuccess)
}
