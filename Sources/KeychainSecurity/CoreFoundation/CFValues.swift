// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// Returns the number of elements.
public func CFArrayGetCount(_ theArray: CFArray!) -> CFIndex {
    theArray.count
}

/// Returns the Swift value of a Boolean object; a number other than 0 counts as true.
public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool {
    boolean.boolValue
}

/// Copies bytes into a new data object.
///
/// - Parameters:
///   - allocator: The allocator is accepted and not used.
///   - bytes: The address of the first byte.
///   - length: The number of bytes.
public func CFDataCreate(
    _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex
) -> CFData! {
    NSData(bytes: bytes, length: length)
}

/// Makes a data object of memory that is there already.
///
/// - Parameters:
///   - allocator: The allocator is accepted and not used.
///   - bytes: The address of the first byte.
///   - length: The number of bytes.
///   - bytesDeallocator: With ``kCFAllocatorNull`` the memory stays the caller's and must outlive the object and its
///     copies. With any other allocator the object frees the memory with free(3).
public func CFDataCreateWithBytesNoCopy(
    _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex, _ bytesDeallocator: CFAllocator!
) -> CFData! {
    let isFreed = bytesDeallocator !== kCFAllocatorNull
    return NSData(bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), length: length, freeWhenDone: isFreed)
}

/// Returns the number of bytes.
public func CFDataGetLength(_ theData: CFData!) -> CFIndex {
    theData.length
}

/// Returns the address of the bytes, which is valid as long as the object lives and does not change.
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! {
    theData.bytes.assumingMemoryBound(to: UInt8.self)
}
