// swift-format-ignore-file: AlwaysUseLowerCamelCase

@_exported public import Foundation

// Stand-ins for the Core Foundation names that Apple's `Security` brings along. Each is the Foundation
// class that Apple bridges toll-free to it, so that `as` casts, literals and `Unmanaged` work as on Apple's
// systems. Do not import this module and the toolchain's `CoreFoundation` in one file: the names clash.

/// Any object can stand where Core Foundation takes a reference without a type.
public typealias CFTypeRef = AnyObject
/// `NSString` stands for Core Foundation's text, so that `as` converts between it and `String`.
public typealias CFString = NSString
/// `NSMutableString` stands for Core Foundation's text that can change.
public typealias CFMutableString = NSMutableString
/// `NSDictionary` stands for Core Foundation's dictionary: `as` makes one of Swift's, and `as?` makes Swift's of it.
public typealias CFDictionary = NSDictionary
/// `NSMutableDictionary` stands for Core Foundation's dictionary that can change.
public typealias CFMutableDictionary = NSMutableDictionary
/// `NSArray` stands for Core Foundation's array: `as` makes one of Swift's, and `as?` makes Swift's of it.
public typealias CFArray = NSArray
/// `NSMutableArray` stands for Core Foundation's array that can change.
public typealias CFMutableArray = NSMutableArray
/// `NSSet` stands for Core Foundation's set: `as` makes one of Swift's, and `as?` makes Swift's of it.
public typealias CFSet = NSSet
/// `NSMutableSet` stands for Core Foundation's set that can change.
public typealias CFMutableSet = NSMutableSet
/// `NSData` stands for Core Foundation's bytes, so that `as` converts between it and `Data`.
public typealias CFData = NSData
/// `NSMutableData` stands for Core Foundation's bytes that can change.
public typealias CFMutableData = NSMutableData
/// `NSNumber` stands for Core Foundation's number: `as` makes one of Swift's, and `as?` makes Swift's of it.
public typealias CFNumber = NSNumber
/// `NSNumber` stands for Core Foundation's Boolean, and `CFGetTypeID(_:)` tells it from a number.
public typealias CFBoolean = NSNumber
/// `NSDate` stands for Core Foundation's date, so that `as` converts between it and `Date`.
public typealias CFDate = NSDate
/// `NSURL` stands for Core Foundation's address, so that `as` converts between it and `URL`.
public typealias CFURL = NSURL
/// `NSNull` stands for Core Foundation's null, which collections hold in the place of a value.
public typealias CFNull = NSNull
/// `NSError` stands for Core Foundation's error, so that `Unmanaged<CFError>` holds one.
public typealias CFError = NSError
/// The domain of a `CFError` is text.
public typealias CFErrorDomain = CFString

/// A status is the number that a call answers with: 0 for success, and mostly a negative number for a failure.
public typealias OSStatus = Int32
/// Four characters make one number, with the first one in its highest byte: `genp` is 0x67656e70.
public typealias FourCharCode = UInt32
/// Carbon has this name for a code of four characters.
public typealias OSType = FourCharCode
/// A count or a position has the size of `Int`.
public typealias CFIndex = Int
/// A set of options has the bits of a `UInt`.
public typealias CFOptionFlags = UInt
/// A number tells the kinds of objects apart, as `CFGetTypeID(_:)` returns it.
public typealias CFTypeID = UInt
/// A hash is a number that equal objects have in common, as `CFHash(_:)` returns it.
public typealias CFHashCode = UInt
/// A moment is the number of seconds since 2001-01-01 00:00 UTC.
public typealias CFAbsoluteTime = Double
/// A span of time is a number of seconds.
public typealias CFTimeInterval = Double

/// The status of Carbon's calls that means success is equal to ``errSecSuccess``.
public let noErr: OSStatus = 0

// Implicitly unwrapped as on Apple's systems, where callers write `kCFBooleanTrue!`.
/// The Boolean object for true switches a `kSecReturn…` flag on.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
/// The Boolean object for false switches a `kSecReturn…` flag off.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
/// The null object stands in a collection where there is no value.
public let kCFNull: CFNull! = NSNull()

/// An allocator says where Core Foundation would take memory from, and functions here accept it without using it.
///
/// ``CFDataCreateWithBytesNoCopy(_:_:_:_:)`` alone heeds an allocator, as the one that frees its bytes.
public final class CFAllocator: Sendable {
    fileprivate init() {}
}
/// The default allocator is nil, which every function with an allocator accepts.
public let kCFAllocatorDefault: CFAllocator! = nil
/// The allocator stands for malloc(3) and free(3).
public let kCFAllocatorMalloc: CFAllocator! = CFAllocator()
/// The allocator stands for memory that is never freed.
public let kCFAllocatorNull: CFAllocator! = CFAllocator()

/// The key leads to the bundle's identifier in `Bundle.infoDictionary`.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
/// The key leads to the bundle's name in `Bundle.infoDictionary`.
nonisolated(unsafe) public let kCFBundleNameKey: CFString! = "CFBundleName"
/// The key leads to the build's number in `Bundle.infoDictionary`.
nonisolated(unsafe) public let kCFBundleVersionKey: CFString! = "CFBundleVersion"

/// Returns the present moment by the system's clock, which can be set back.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime {
    Date.timeIntervalSinceReferenceDate
}
