internal import CKeychainLinux
internal import KeychainModel
internal import Synchronization

/// A piece of memory for keys: out of core dumps, out of swap where the system allows, wiped in a forked child, and
/// erased on release.
///
/// Pieces come from pages that are kept, because mapping and locking a page costs more than a look-up's cryptography.
final class KeyMemory: @unchecked Sendable {  // its owner writes before it shares
    /// Enough for the keys of one tier in two generations.
    static let byteCount = 512

    let bytes: UnsafeMutableRawBufferPointer
    /// Whether the kernel granted the lock against swapping.
    let isLocked: Bool

    /// - Throws: `.allocation` if no memory can be mapped.
    init() throws(KeychainError) {
        (bytes, isLocked) = try Pool.shared.take()
    }

    deinit {
        ckeychain_erase(bytes.baseAddress, bytes.count)
        Pool.shared.give(bytes, isLocked)
    }
}

extension KeyMemory {
    private final class Pool: Sendable {
        static let shared = Pool()
        private static let pageSize = 4096

        private struct Piece: @unchecked Sendable {  // unused memory
            var bytes: UnsafeMutableRawBufferPointer
            var isLocked: Bool
        }
        private let idle = Mutex<[Piece]>([])

        func take() throws(KeychainError) -> (UnsafeMutableRawBufferPointer, Bool) {
            if let piece = idle.withLock({ $0.popLast() }) { return (piece.bytes, piece.isLocked) }
            var mapped: UnsafeMutableRawPointer?
            var locked: CInt = 0
            let failure = ckeychain_map_pages(Self.pageSize, &mapped, &locked)
            guard failure == 0, let mapped else {
                throw KeychainError(.allocation, message: "no memory for keys could be mapped (errno \(failure))")
            }
            let pieces = stride(from: 0, to: Self.pageSize, by: KeyMemory.byteCount).map { offset in
                Piece(
                    bytes: UnsafeMutableRawBufferPointer(start: mapped + offset, count: KeyMemory.byteCount),
                    isLocked: locked != 0)
            }
            idle.withLock { $0 += pieces.dropFirst() }
            return (pieces[0].bytes, pieces[0].isLocked)
        }

        func give(_ bytes: UnsafeMutableRawBufferPointer, _ isLocked: Bool) {
            let piece = Piece(bytes: bytes, isLocked: isLocked)
            idle.withLock { $0.append(piece) }
        }
    }
}
