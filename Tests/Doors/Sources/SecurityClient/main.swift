import AsksAndImports
import Foundation
import LocalAuthentication
import Security

#if !canImport(Security) || !canImport(LocalAuthentication)
    #error("the door does not open")
#endif
#if HAS_JWT
    import JWTKit
#endif
#if HAS_ASKER
    import AsksOnly

    print("AsksOnly finds Security: \(AsksOnly.findsSecurity)")
#endif
print("AsksAndImports finds Security: \(AsksAndImports.findsSecurity)")

let added = Security.SecItemAdd(
    [kSecClass: kSecClassGenericPassword, kSecAttrService: "door", kSecValueData: Data("opens".utf8)] as CFDictionary,
    nil)
var result: CFTypeRef?
let found = SecItemCopyMatching(
    [kSecClass: kSecClassGenericPassword, kSecAttrService: "door", kSecReturnData: true] as CFDictionary, &result)
print("The door opens: \(added == errSecSuccess && found == errSecSuccess && result as? Data == Data("opens".utf8))")
print("Policies have numbers: \(LocalAuthentication.LAPolicy.deviceOwnerAuthentication.rawValue == 2)")
