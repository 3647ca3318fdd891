// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import Foundation

/// A source of random bytes is a pointer, and ``kSecRandomDefault`` is the only source.
public typealias SecRandomRef = OpaquePointer

/// The default source is nil, and takes its bytes from the kernel.
nonisolated(unsafe) public let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with random bytes from the kernel, fit for keys.
///
/// - Parameters:
///   - rnd: The source, which is ``kSecRandomDefault``.
///   - count: The number of bytes.
///   - bytes: The address of memory for that many bytes.
/// - Returns: ``errSecSuccess`` if all bytes are written. A negative count or another source is ``errSecParam``. If the
///   kernel gives no bytes, the status is ``errSecInternalComponent`` and the memory must not be used.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    guard rnd == kSecRandomDefault, count >= 0 else { return errSecParam }
    let mostAtOnce = 256  // the kernel's limit for one call
    for offset in stride(from: 0, to: count, by: mostAtOnce) {
        guard getentropy(bytes + offset, min(mostAtOnce, count - offset)) == 0 else {
            return errSecInternalComponent
        }
    }
    return errSecSuccess
}
