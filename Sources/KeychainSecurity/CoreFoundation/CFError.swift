// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// The domain belongs to errors whose code is an `OSStatus`, such as those of `SecAccessControlCreateWithFlags`.
nonisolated(unsafe) public let kCFErrorDomainOSStatus: CFErrorDomain! = NSOSStatusErrorDomain as NSString
/// The domain belongs to errors whose code is an `errno`.
nonisolated(unsafe) public let kCFErrorDomainPOSIX: CFErrorDomain! = NSPOSIXErrorDomain as NSString
/// The domain belongs to Foundation's own errors, such as those of files.
nonisolated(unsafe) public let kCFErrorDomainCocoa: CFErrorDomain! = NSCocoaErrorDomain as NSString

/// Makes an error from a domain, a code and a dictionary that describes it.
///
/// - Parameters:
///   - allocator: The allocator is accepted and not used.
///   - domain: The domain that the code belongs to.
///   - code: The code, such as an `OSStatus`.
///   - userInfo: A dictionary whose keys are all texts. Any other dictionary counts as nil.
public func CFErrorCreate(
    _ allocator: CFAllocator!, _ domain: CFErrorDomain!, _ code: CFIndex, _ userInfo: CFDictionary!
) -> CFError! {
    NSError(domain: domain as String, code: code, userInfo: userInfo as? [String: Any])
}

/// Returns the code, which means something only together with the domain.
public func CFErrorGetCode(_ err: CFError!) -> CFIndex {
    err.code
}

/// Returns the domain that the code belongs to.
public func CFErrorGetDomain(_ err: CFError!) -> CFErrorDomain! {
    err.domain as NSString
}

/// Returns a text for a person, which is never nil.
public func CFErrorCopyDescription(_ err: CFError!) -> CFString! {
    err.localizedDescription as NSString
}

/// Returns a text that says why the call failed, or nil if the error has none.
public func CFErrorCopyFailureReason(_ err: CFError!) -> CFString! {
    err.localizedFailureReason as NSString?
}

/// Returns a text that says how a person can help it, or nil if the error has none.
public func CFErrorCopyRecoverySuggestion(_ err: CFError!) -> CFString! {
    err.localizedRecoverySuggestion as NSString?
}

/// Returns the dictionary that describes the error, which may be empty.
public func CFErrorCopyUserInfo(_ err: CFError!) -> CFDictionary! {
    err.userInfo as NSDictionary
}
