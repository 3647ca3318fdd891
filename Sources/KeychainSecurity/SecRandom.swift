// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import Foundation

/// A source of random bytes; there is only the default one.
public typealias SecRandomRef = OpaquePointer

nonisolated(unsafe) public let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with random bytes from the kernel, fit for keys.
///
/// - Returns: ``errSecSuccess`` once all `count` bytes are written; ``errSecParam`` for a negative count or
///   a source other than ``kSecRandomDefault``; ``errSecInternalComponent`` if the kernel refuses, in
///   which case the memory must not be used.
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
