// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// Absent on purpose: `CFDictionaryGetValue` and `CFArrayGetValueAtIndex`. They return a pointer that the
// collection owns, but Linux Foundation hands strings, data and numbers out as new objects, which nobody
// would own. Read with a subscript, or cast the collection with `as? [String: Any]`.

/// How a dictionary treats its keys; accepted and without effect, since keys and values are always objects
/// that are retained and compared with ``CFEqual(_:_:)``.
public struct CFDictionaryKeyCallBacks: Sendable {
    public var version: CFIndex = 0
    public init() {}
}

/// How a dictionary treats its values; see ``CFDictionaryKeyCallBacks``.
public struct CFDictionaryValueCallBacks: Sendable {
    public var version: CFIndex = 0
    public init() {}
}

public let kCFTypeDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
public let kCFCopyStringDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
public let kCFTypeDictionaryValueCallBacks = CFDictionaryValueCallBacks()

/// Makes an empty dictionary whose keys and values are objects, whatever the callbacks say.
public func CFDictionaryCreateMutable(
    _ allocator: CFAllocator!, _ capacity: CFIndex,
    _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
    _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFMutableDictionary! {
    NSMutableDictionary(capacity: capacity)
}

public func CFDictionaryCreateMutableCopy(
    _ allocator: CFAllocator!, _ capacity: CFIndex, _ theDict: CFDictionary!
) -> CFMutableDictionary! {
    theDict.mutableCopy() as? CFMutableDictionary
}

/// Sets the value of a key, both given as pointers to objects, as `Unmanaged.toOpaque()` makes them.
public func CFDictionarySetValue(
    _ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
    theDict.setObject(object(at: value), forKey: object(at: key))
}

/// Sets the value of a key that the dictionary does not hold yet, and otherwise does nothing.
public func CFDictionaryAddValue(
    _ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
    guard !CFDictionaryContainsKey(theDict, key) else { return }
    CFDictionarySetValue(theDict, key, value)
}

/// Sets the value of a key that the dictionary already holds, and otherwise does nothing.
public func CFDictionaryReplaceValue(
    _ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
    guard CFDictionaryContainsKey(theDict, key) else { return }
    CFDictionarySetValue(theDict, key, value)
}

public func CFDictionaryRemoveValue(_ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!) {
    theDict.removeObject(forKey: object(at: key))
}

public func CFDictionaryRemoveAllValues(_ theDict: CFMutableDictionary!) {
    theDict.removeAllObjects()
}

public func CFDictionaryContainsKey(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> Bool {
    theDict.object(forKey: object(at: key)) != nil
}

public func CFDictionaryGetCount(_ theDict: CFDictionary!) -> CFIndex {
    theDict.count
}

private func object(at pointer: UnsafeRawPointer) -> NSObject {
    Unmanaged.fromOpaque(pointer).takeUnretainedValue()
}
