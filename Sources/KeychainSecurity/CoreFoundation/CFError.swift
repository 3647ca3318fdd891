// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

nonisolated(unsafe) public let kCFErrorDomainOSStatus: CFErrorDomain! = NSOSStatusErrorDomain as NSString
nonisolated(unsafe) public let kCFErrorDomainPOSIX: CFErrorDomain! = NSPOSIXErrorDomain as NSString
nonisolated(unsafe) public let kCFErrorDomainCocoa: CFErrorDomain! = NSCocoaErrorDomain as NSString

public func CFErrorCreate(
    _ allocator: CFAllocator!, _ domain: CFErrorDomain!, _ code: CFIndex, _ userInfo: CFDictionary!
) -> CFError! {
    NSError(domain: domain as String, code: code, userInfo: userInfo as? [String: Any])
}

public func CFErrorGetCode(_ err: CFError!) -> CFIndex {
    err.code
}

public func CFErrorGetDomain(_ err: CFError!) -> CFErrorDomain! {
    err.domain as NSString
}

public func CFErrorCopyDescription(_ err: CFError!) -> CFString! {
    err.localizedDescription as NSString
}

public func CFErrorCopyFailureReason(_ err: CFError!) -> CFString! {
    err.localizedFailureReason as NSString?
}

public func CFErrorCopyRecoverySuggestion(_ err: CFError!) -> CFString! {
    err.localizedRecoverySuggestion as NSString?
}

public func CFErrorCopyUserInfo(_ err: CFError!) -> CFDictionary! {
    err.userInfo as NSDictionary
}
