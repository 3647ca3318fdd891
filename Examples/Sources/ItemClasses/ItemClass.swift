import Foundation
import Security

/// The value of `kSecClass`, as a type of its own.
enum ItemClass: CaseIterable, RawRepresentable {
    case genericPassword, internetPassword, certificate, key, identity

    init?(rawValue: CFString) {
        switch rawValue {
        case kSecClassGenericPassword: self = .genericPassword
        case kSecClassInternetPassword: self = .internetPassword
        case kSecClassCertificate: self = .certificate
        case kSecClassKey: self = .key
        case kSecClassIdentity: self = .identity
        default: return nil
        }
    }

    var rawValue: CFString {
        switch self {
        case .genericPassword: kSecClassGenericPassword
        case .internetPassword: kSecClassInternetPassword
        case .certificate: kSecClassCertificate
        case .key: kSecClassKey
        case .identity: kSecClassIdentity
        }
    }
}
