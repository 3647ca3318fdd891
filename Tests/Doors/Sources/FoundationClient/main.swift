import AsksAndImports
import Foundation

#if HAS_JWT
    import JWTKit
#endif
#if HAS_ASKER
    import AsksOnly

    print("AsksOnly finds Security: \(AsksOnly.findsSecurity)")
#endif
print("AsksAndImports finds Security: \(AsksAndImports.findsSecurity)")

let added = SecItemAdd(
    [kSecClass: kSecClassGenericPassword, kSecAttrService: "door", kSecValueData: Data("opens".utf8)] as CFDictionary,
    nil)
var result: CFTypeRef?
let found = SecItemCopyMatching(
    [kSecClass: kSecClassGenericPassword, kSecAttrService: "door", kSecReturnData: true] as CFDictionary, &result)
print("The door opens: \(added == errSecSuccess && found == errSecSuccess && result as? Data == Data("opens".utf8))")
print("Policies have numbers: \(LAPolicy.deviceOwnerAuthentication.rawValue == 2)")
