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

/// Made with OpenSSL for this program; the key is for nothing else.
private let clientFile = """
    MIIF2QIBAzCCBY8GCSqGSIb3DQEHAaCCBYAEggV8MIIFeDCCBBIGCSqGSIb3DQEHBqCCBAMwggP/AgEAMIID+AYJKoZIhvcNAQcBMFcGCSqGSIb3
    DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjtelvLt7eZmQICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEEpQJPVYztAViNSXoZ1Pt3mAggOQ
    Z1ZICjDI49xhxhPwGHK2ua1AAAMyOgGV4WczQmS+J0bOs2lOtopwKyCE8OhZaJJE6bIN0bZWu7EerEUfDwDpy8jwmKmqHrxxUmBhKx5Ei03OPXl2
    QxTynYmIDB43RoiZOu1229qCQu+8hbVWY26+pbcax20J2b7SvuwlH+4IRJ01RKXBsT2PQ8Fh0AxOacMoLGspP7FE8dUl1uXUGUt7G6kDTChaSGmq
    CTGshuh9dyihjKcV6Gmu9eQPli0Rm7d/E5l6xEgqDuf6B/6E56lYWdAxI5Iq2zHrW0/KwblwP0RsozNuB6ugtmTht54lt65tTfKyrZxnTleTc1Fq
    8gwbco/VL2+Ga/nclJ5Q8a2CKIzFEQUvi8XaaWAzegKz/s4aV7qv+43QyJK4dQ18kQlpE8FZk0o6XjGhLzz4aZHaEQY4lLHVb+Yvu/CJNjEXhRzH
    /LFah8UGg0Csdt4tH55J5nKGZuJp+92egkpixbjKL1DAEQjLa1lpXbZU6aoD9LmojARdPx2HRgqwyWHDtrXUbb+aJ/RNKZ7r9/i3fIHwHkoEyADz
    Rfw0cPhjjnfffUOWMX5MfWlVPkOd30eaEo92HVNgpA+FsCWYyrSmOxFtHPwSTGokBJct/i0K7ozzYxT817pIOTWh8XnZnUx24hBzkV9yW+5HbzR6
    sdkn8F5gnPOAxySJR9c6xGiaf8U06xcijb1PHkwcyHC6MsZvKSgzFzHJ2PGoc/sCffat+oZxAP4GJZfvu/FLWJn+iFHBkXjkPmyddjXVGpnZW9ca
    ip3/2++1meWWGD0uwjmyT95dohuCUWQoe8UjYyub+ULGkY6RyqBXqboYqVZjDWltDtrK8g7Gg5yfuw1VrPuyFjsmajyKMkeHyxyG6tVRoYBEwObC
    Yramnm3TF61x6K4oe5Wx/YOFE0rzOW6MYkKCw4UidlU7uMAvfh0VYj2fkfzbINZ+FpRVqB6BsHxxq5ubcQ3Uma9ZY/YnJJcU1IFuoiRRy0VH8I7M
    hF363YFGXbyVJfej+sLohqRbpdVFIXeM6ssRBU03hbOgSzVy15CYnsDnz8FD7RDGaBAItypPhAbjl5cYk2Pv5h7RGNqZRCklOld9eMnSJcmZUGcz
    xXN3CBy7qgpG91a7vXlx9/OJcVpfIWvE1eqzADtS90XaHxlhdpNP2fI+4hvuksSCXp6lCcprEWYScivB9mIK/+/O2t20JamNMIIBXgYJKoZIhvcN
    AQcBoIIBTwSCAUswggFHMIIBQwYLKoZIhvcNAQwKAQKgge8wgewwVwYJKoZIhvcNAQUNMEowKQYJKoZIhvcNAQUMMBwECPy4WOnTCVLTAgIIADAM
    BggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQG6pWuYChpFkPlAPkqj4cAwSBkAUVw1XxWDc9fPXTBd7rY4OVRziL6GeHiPHJPfkvfoX77BKeD7Yb
    zWZipz2zpEQE70/eH9nVu4I1YQ6pCTW9at6523Je06rbsbBQ/6Q6Ju5w3Q9eif2QGVJXOxXKDPdBJSxniaiZNDDW2g50KVVfNU5Hr7x/GN63tYKz
    FhfNsVUZo+4KMMed1gxOa2sC3pEdEDFCMBsGCSqGSIb3DQEJFDEOHgwAYwBsAGkAZQBuAHQwIwYJKoZIhvcNAQkVMRYEFGnAwLDhby8d/xrnbgz2
    pBuLi6jvMEEwMTANBglghkgBZQMEAgEFAAQgmuY2uI97EsXtXjDIjoMid6nOVM76R3wuWbhabqLkXZcECBRaC8/hYPQ0AgIIAA==
    """
