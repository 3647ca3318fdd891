// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

public func CFArrayGetCount(_ theArray: CFArray!) -> CFIndex {
    theArray.count
}

public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool {
    boolean.boolValue
}

/// Copies bytes into a new data object.
public func CFDataCreate(
    _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex
) -> CFData! {
    NSData(bytes: bytes, length: length)
}

/// Makes a data object of memory that is there already.
///
/// With ``kCFAllocatorNull`` as its last argument the memory stays the caller's and must outlive the object and its copies.
/// With any other the object frees it with free(3).
public func CFDataCreateWithBytesNoCopy(
    _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex, _ bytesDeallocator: CFAllocator!
) -> CFData! {
    let isFreed = bytesDeallocator !== kCFAllocatorNull
    return NSData(bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), length: length, freeWhenDone: isFreed)
}

public func CFDataGetLength(_ theData: CFData!) -> CFIndex {
    theData.length
}

/// The bytes of a data object, valid as long as the object lives and does not change.
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! {
    theData.bytes.assumingMemoryBound(to: UInt8.self)
}
