// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import Foundation

/// Tells which kind of object this is, as the number that a `…GetTypeID` function returns.
///
/// The numbers hold within one process only. All objects that are of no Core Foundation type have one number in common.
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID {
    TypeIdentifier(of: cf).rawValue
}

/// Compares two objects by their content, as `isEqual(_:)` of `NSObject` does.
///
/// Objects that are no `NSObject` are equal only to themselves.
public func CFEqual(_ cf1: CFTypeRef!, _ cf2: CFTypeRef!) -> Bool {
    guard let first = cf1 as? NSObject else { return cf1 === cf2 }
    return first.isEqual(cf2)
}

/// Returns a number that equal objects have in common, for use within one process.
public func CFHash(_ cf: CFTypeRef!) -> CFHashCode {
    let hash = (cf as? NSObject)?.hash ?? ObjectIdentifier(cf).hashValue
    return CFHashCode(bitPattern: hash)
}

/// Returns the number that `CFGetTypeID(_:)` gives for an `NSString`.
public func CFStringGetTypeID() -> CFTypeID { TypeIdentifier.string.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for an `NSDictionary`.
public func CFDictionaryGetTypeID() -> CFTypeID { TypeIdentifier.dictionary.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for an `NSArray`.
public func CFArrayGetTypeID() -> CFTypeID { TypeIdentifier.array.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for an `NSSet`.
public func CFSetGetTypeID() -> CFTypeID { TypeIdentifier.set.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for an `NSData`.
public func CFDataGetTypeID() -> CFTypeID { TypeIdentifier.data.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for an `NSNumber` that was made of a Boolean.
public func CFBooleanGetTypeID() -> CFTypeID { TypeIdentifier.boolean.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for an `NSNumber` that was made of a number.
public func CFNumberGetTypeID() -> CFTypeID { TypeIdentifier.number.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for an `NSDate`.
public func CFDateGetTypeID() -> CFTypeID { TypeIdentifier.date.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for an `NSURL`.
public func CFURLGetTypeID() -> CFTypeID { TypeIdentifier.url.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for the null object.
public func CFNullGetTypeID() -> CFTypeID { TypeIdentifier.null.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for an `NSError`.
public func CFErrorGetTypeID() -> CFTypeID { TypeIdentifier.error.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for an access control.
public func SecAccessControlGetTypeID() -> CFTypeID { TypeIdentifier.accessControl.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for a certificate.
public func SecCertificateGetTypeID() -> CFTypeID { TypeIdentifier.certificate.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for a key.
public func SecKeyGetTypeID() -> CFTypeID { TypeIdentifier.key.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for an identity.
public func SecIdentityGetTypeID() -> CFTypeID { TypeIdentifier.identity.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for an evaluation of trust.
public func SecTrustGetTypeID() -> CFTypeID { TypeIdentifier.trust.rawValue }
/// Returns the number that `CFGetTypeID(_:)` gives for a policy.
public func SecPolicyGetTypeID() -> CFTypeID { TypeIdentifier.policy.rawValue }

/// The kinds that ``CFGetTypeID(_:)`` tells apart have these numbers.
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
