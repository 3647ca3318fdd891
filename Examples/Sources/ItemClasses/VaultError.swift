import Foundation
import Security

enum VaultError: Error, Equatable {
    case notFound
    case duplicate
    case malformed
    case locked
    case attributeUnknownToClass
    case other(OSStatus)

    static func check(_ status: OSStatus) throws {
        switch status {
        case errSecSuccess: return
        case errSecItemNotFound: throw notFound
        case errSecDuplicateItem: throw duplicate
        case errSecDecode, errSecParam: throw malformed
        case errSecInteractionNotAllowed: throw locked
        case errSecNoSuchAttr: throw attributeUnknownToClass
        default: throw other(status)
        }
    }
}

extension VaultError: LocalizedError {
    var errorDescription: String? {
        switch self {
        case .notFound: "There is no such item."
        case .duplicate: "The item exists already."
        case .malformed: "The item or the query is malformed."
        case .locked: "The keychain is locked."
        case .attributeUnknownToClass: "Items of this class have no such attribute."
        case .other(let status): SecCopyErrorMessageString(status, nil) as String?
        }
    }
}
