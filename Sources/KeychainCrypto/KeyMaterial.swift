internal import CKeychainLinux
internal import KeychainModel

/// A 256-bit key that stays around: in memory of its own, out of core dumps and, where the system allows, out of swap.
///
/// The bytes are erased on release. They are handed out only for the length of a closure, so that no
/// `Data` or `SymmetricKey` ever holds a class or index key longer than one call.
package final class KeyMaterial: @unchecked Sendable {  // immutable after init
    package static let byteCount = 32
    /// One page a key: a page is the unit that can be locked and left out of dumps.
    private static let pageSize = 4096

    private let page: UnsafeMutableRawPointer
    /// Whether the kernel granted the lock against swapping.
    package let isLocked: Bool

    /// - Throws: `.allocation` if no memory can be mapped, or whatever `fill` throws.
    package init(filling fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        var mapped: UnsafeMutableRawPointer?
        var locked: CInt = 0
        let failure = ckeychain_map_pages(Self.pageSize, &mapped, &locked)
        guard failure == 0, let mapped else {
            throw KeychainError(.allocation, message: "no memory for a key could be mapped (errno \(failure))")
        }
        page = mapped
        isLocked = locked != 0
        do {
            try fill(UnsafeMutableRawBufferPointer(start: mapped, count: Self.byteCount))
        } catch {
            ckeychain_release_pages(mapped, Self.pageSize)
            throw error
        }
    }

    package convenience init(from randomness: some Randomness) throws {
        try self.init { try randomness.fill($0) }
    }

    deinit { ckeychain_release_pages(page, Self.pageSize) }

    package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(start: page, count: Self.byteCount))
    }
}

extension KeyMaterial: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<REDACTED>" }
    package var debugDescription: String { "<REDACTED>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
