// swift-format-ignore-file: AlwaysUseLowerCamelCase

@_exported public import Foundation

// Stand-ins for the Core Foundation names that Apple's `Security` brings along. Each is the Foundation
// class that Apple bridges toll-free to it, so that `as` casts, literals and `Unmanaged` work as on Apple's
// systems. Do not import this module and the toolchain's `CoreFoundation` in one file: the names clash.

public typealias CFTypeRef = AnyObject
public typealias CFString = NSString
public typealias CFMutableString = NSMutableString
public typealias CFDictionary = NSDictionary
public typealias CFMutableDictionary = NSMutableDictionary
public typealias CFArray = NSArray
public typealias CFMutableArray = NSMutableArray
public typealias CFSet = NSSet
public typealias CFMutableSet = NSMutableSet
public typealias CFData = NSData
public typealias CFMutableData = NSMutableData
public typealias CFNumber = NSNumber
public typealias CFBoolean = NSNumber
public typealias CFDate = NSDate
public typealias CFURL = NSURL
public typealias CFNull = NSNull
public typealias CFError = NSError
public typealias CFErrorDomain = CFString

public typealias OSStatus = Int32
/// Four characters in one number, the first in its highest byte: 'genp' is 0x67656e70.
public typealias FourCharCode = UInt32
public typealias OSType = FourCharCode
public typealias CFIndex = Int
public typealias CFOptionFlags = UInt
public typealias CFTypeID = UInt
public typealias CFHashCode = UInt
/// Seconds since 2001-01-01 00:00 UTC.
public typealias CFAbsoluteTime = Double
public typealias CFTimeInterval = Double

/// The status of Carbon's calls that means success; equal to ``errSecSuccess``.
public let noErr: OSStatus = 0

// Implicitly unwrapped as on Apple's systems, where callers write `kCFBooleanTrue!`.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
public let kCFNull: CFNull! = NSNull()

/// Where Core Foundation would take memory from. Functions accept each and use none;
/// ``CFDataCreateWithBytesNoCopy(_:_:_:_:)`` says what they mean there.
public final class CFAllocator: Sendable {
    fileprivate init() {}
}
public let kCFAllocatorDefault: CFAllocator! = nil
/// The allocator of malloc(3) and free(3).
public let kCFAllocatorMalloc: CFAllocator! = CFAllocator()
/// The allocator that frees nothing.
public let kCFAllocatorNull: CFAllocator! = CFAllocator()

/// The key of the bundle identifier in `Bundle.infoDictionary`.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
/// The key of the bundle's name in `Bundle.infoDictionary`.
nonisolated(unsafe) public let kCFBundleNameKey: CFString! = "CFBundleName"
/// The key of the build's number in `Bundle.infoDictionary`.
nonisolated(unsafe) public let kCFBundleVersionKey: CFString! = "CFBundleVersion"

public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime {
    Date.timeIntervalSinceReferenceDate
}
