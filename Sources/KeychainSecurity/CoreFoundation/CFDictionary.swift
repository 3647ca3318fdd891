// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// Absent on purpose: `CFDictionaryGetValue` and `CFArrayGetValueAtIndex`. They return a pointer that the collection
// owns, but Linux Foundation hands strings, data and numbers out as new objects, which would have no owner. Read with a
// subscript, or cast the collection with `as? [String: Any]`.

/// The callbacks would say how a dictionary treats its keys, and are accepted without effect.
///
/// Keys and values are always objects, which the dictionary retains and compares by content.
public struct CFDictionaryKeyCallBacks: Sendable {
    /// The version of the structure is 0, and nothing reads it.
    public var version: CFIndex = 0
    /// Makes callbacks, which are all alike.
    public init() {}
}

/// The callbacks would say how a dictionary treats its values, and are accepted without effect.
///
/// Keys and values are always objects, which the dictionary retains and compares by content.
public struct CFDictionaryValueCallBacks: Sendable {
    /// The version of the structure is 0, and nothing reads it.
    public var version: CFIndex = 0
    /// Makes callbacks, which are all alike.
    public init() {}
}

/// The callbacks for keys that are objects describe the way of every dictionary here.
public let kCFTypeDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
/// The callbacks for texts as keys have no effect of their own here.
public let kCFCopyStringDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
/// The callbacks for values that are objects describe the way of every dictionary here.
public let kCFTypeDictionaryValueCallBacks = CFDictionaryValueCallBacks()

/// Makes an empty dictionary whose keys and values are objects in any case.
///
/// - Parameters:
///   - allocator: The allocator is accepted and not used.
///   - capacity: The number of entries to make room for, which limits nothing.
///   - keyCallBacks: The callbacks are accepted and not used.
///   - valueCallBacks: The callbacks are accepted and not used.
public func CFDictionaryCreateMutable(
    _ allocator: CFAllocator!, _ capacity: CFIndex,
    _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
    _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFMutableDictionary! {
    NSMutableDictionary(capacity: capacity)
}

/// Copies a dictionary into one that can change; both hold one set of keys and values.
///
/// - Parameters:
///   - allocator: The allocator is accepted and not used.
///   - capacity: The number is accepted and not used.
///   - theDict: The dictionary to copy, which stays as it is.
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

/// Removes a key, given as a pointer to an object, together with its value.
///
/// A key that the dictionary does not hold is no error.
public func CFDictionaryRemoveValue(_ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!) {
    theDict.removeObject(forKey: object(at: key))
}

/// Removes every entry and leaves an empty dictionary.
public func CFDictionaryRemoveAllValues(_ theDict: CFMutableDictionary!) {
    theDict.removeAllObjects()
}

/// Tells whether the dictionary holds a key, given as a pointer to an object.
public func CFDictionaryContainsKey(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> Bool {
    theDict.object(forKey: object(at: key)) != nil
}

/// Returns the number of entries.
public func CFDictionaryGetCount(_ theDict: CFDictionary!) -> CFIndex {
    theDict.count
}

private func object(at pointer: UnsafeRawPointer) -> NSObject {
    Unmanaged.fromOpaque(pointer).takeUnretainedValue()
}
