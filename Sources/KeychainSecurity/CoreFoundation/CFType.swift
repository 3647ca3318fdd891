// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import Foundation

/// Says which kind of object this is, for comparison with what a `…GetTypeID` function returns.
///
/// The numbers hold within one process only. Objects of no Core Foundation type share one of their own.
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID {
    TypeIdentifier(of: cf).rawValue
}

public func CFEqual(_ cf1: CFTypeRef!, _ cf2: CFTypeRef!) -> Bool {
    guard let first = cf1 as? NSObject else { return cf1 === cf2 }
    return first.isEqual(cf2)
}

public func CFHash(_ cf: CFTypeRef!) -> CFHashCode {
    let hash = (cf as? NSObject)?.hash ?? ObjectIdentifier(cf).hashValue
    return CFHashCode(bitPattern: hash)
}

public func CFStringGetTypeID() -> CFTypeID { TypeIdentifier.string.rawValue }
public func CFDictionaryGetTypeID() -> CFTypeID { TypeIdentifier.dictionary.rawValue }
public func CFArrayGetTypeID() -> CFTypeID { TypeIdentifier.array.rawValue }
public func CFSetGetTypeID() -> CFTypeID { TypeIdentifier.set.rawValue }
public func CFDataGetTypeID() -> CFTypeID { TypeIdentifier.data.rawValue }
public func CFBooleanGetTypeID() -> CFTypeID { TypeIdentifier.boolean.rawValue }
public func CFNumberGetTypeID() -> CFTypeID { TypeIdentifier.number.rawValue }
public func CFDateGetTypeID() -> CFTypeID { TypeIdentifier.date.rawValue }
public func CFURLGetTypeID() -> CFTypeID { TypeIdentifier.url.rawValue }
public func CFNullGetTypeID() -> CFTypeID { TypeIdentifier.null.rawValue }
public func CFErrorGetTypeID() -> CFTypeID { TypeIdentifier.error.rawValue }
public func SecAccessControlGetTypeID() -> CFTypeID { TypeIdentifier.accessControl.rawValue }
public func SecCertificateGetTypeID() -> CFTypeID { TypeIdentifier.certificate.rawValue }
public func SecKeyGetTypeID() -> CFTypeID { TypeIdentifier.key.rawValue }
public func SecIdentityGetTypeID() -> CFTypeID { TypeIdentifier.identity.rawValue }
public func SecTrustGetTypeID() -> CFTypeID { TypeIdentifier.trust.rawValue }
public func SecPolicyGetTypeID() -> CFTypeID { TypeIdentifier.policy.rawValue }

/// The kinds that ``CFGetTypeID(_:)`` tells apart.
private enum TypeIdentifier: CFTypeID {
    case other = 1
    case string, dictionary, array, set, data, boolean, number, date, url, null, error
    case accessControl, certificate, key, identity, trust, policy

    init(of object: AnyObject) {
        switch object {
        case is NSString: self = .string
        case is NSDictionary: self = .dictionary
        case is NSArray: self = .array
        case is NSSet: self = .set
        case is NSData: self = .data
        case let number as NSNumber: self = SecItemValue.isBoolean(number) ? .boolean : .number
        case is NSDate: self = .date
        case is NSURL: self = .url
        case is NSNull: self = .null
        case is NSError: self = .error
        case is SecAccessControl: self = .accessControl
        case is SecCertificate: self = .certificate
        case is SecKey: self = .key
        case is SecIdentity: self = .identity
        case is SecTrust: self = .trust
        case is SecPolicy: self = .policy
        default: self = .other
        }
    }

}
