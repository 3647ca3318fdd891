import Foundation
import Report
import Security

/// A PKCS#12 file, with everything that an import takes and gives.
func imports() throws {
    let file = Data(base64Encoded: clientFile, options: .ignoreUnknownCharacters) ?? Data()
    let options: [CFString: Any] = [
        kSecImportExportPassphrase: "example", kSecImportExportKeychain: "ignored", kSecImportExportAccess: "ignored",
        kSecImportToMemoryOnly: false, kSecUseDataProtectionKeychain: true,
    ]
    var items: CFArray?
    let status: OSStatus = SecPKCS12Import(file as CFData, options as CFDictionary, &items)
    guard status == errSecSuccess, let item = (items as? [[String: Any]])?.first else {
        stop("the import failed with \(status)")
    }
    let identity = item[kSecImportItemIdentity as String] as! SecIdentity
    tell("An import has a label", item[kSecImportItemLabel as String] as? String == "client")
    tell("And the identifier of a key", (item[kSecImportItemKeyID as String] as? Data)?.count == 20)
    tell("And a chain", (item[kSecImportItemCertChain as String] as? [SecCertificate])?.count == 2)
    tell("And a trust", item[kSecImportItemTrust as String] is SecTrust)
    var result: CFTypeRef?
    let query = [kSecClass: kSecClassIdentity, kSecReturnRef: true] as CFDictionary
    tell("It is stored", SecItemCopyMatching(query, &result) == errSecSuccess && result as? SecIdentity == identity)
    for itemClass in [kSecClassIdentity, kSecClassCertificate] {
        tell("And deleted", SecItemDelete([kSecClass: itemClass] as CFDictionary) == errSecSuccess)
    }
}
