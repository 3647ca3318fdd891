internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// A piece of memory for keys: out of core dumps, out of swap where the system allows, wiped in a forked child or not
/// there, and erased on release.
///
/// Pieces come from pages that are kept, because mapping and locking a page costs more than a look-up's cryptography.
final class KeyMemory: @unchecked Sendable {  // its owner writes before it shares
    /// The size of most pieces.
    static let byteCount = 512

    let bytes: UnsafeMutableRawBufferPointer
    let kind: KeyMemoryKind

    /// - Parameter byteCount: Half a page or less, and a power of two.
    /// - Throws: `.allocation` if no memory can be mapped.
    init(byteCount: Int = byteCount) throws(KeychainError) {
        (bytes, kind) = try Pool.shared.take(byteCount)
    }

    deinit {
        ckeychain_erase(bytes.baseAddress, bytes.count)
        Pool.shared.give(bytes, kind)
    }
}

/// The kind of memory that keys of this process are in.
package enum KeyMemoryPolicy {
    fileprivate static let wantsSecretMemory = Atomic(false)

    /// From now on keys go into memory that the kernel itself cannot read, where it has such.
    ///
    /// A daemon calls this before its first key. Other programs must not call it: while any process has such
    /// memory the machine cannot hibernate, and a forked child that touches it crashes.
    package static func useSecretMemory() { wantsSecretMemory.store(true, ordering: .relaxed) }
}

extension KeyMemory {
    private final class Pool: Sendable {
        static let shared = Pool()
        private static let pageSize = 4096

        private struct Piece: @unchecked Sendable {  // unused memory
            var bytes: UnsafeMutableRawBufferPointer
            var kind: KeyMemoryKind
        }
        /// Idle pieces by their sizes.
        private let idle = Mutex<[Int: [Piece]]>([:])

        func take(_ byteCount: Int) throws(KeychainError) -> (UnsafeMutableRawBufferPointer, KeyMemoryKind) {
            if let piece = idle.withLock({ $0[byteCount]?.popLast() }) { return (piece.bytes, piece.kind) }
            let (mapped, kind) = try map()
            let pieces = stride(from: 0, to: Self.pageSize, by: byteCount).map { offset in
                Piece(bytes: UnsafeMutableRawBufferPointer(start: mapped + offset, count: byteCount), kind: kind)
            }
            idle.withLock { $0[byteCount, default: []] += pieces.dropFirst() }
            return (pieces[0].bytes, kind)
        }

        private func map() throws(KeychainError) -> (UnsafeMutableRawPointer, KeyMemoryKind) {
            var mapped: UnsafeMutableRawPointer?
            if KeyMemoryPolicy.wantsSecretMemory.load(ordering: .relaxed),
                ckeychain_map_secret_pages(Self.pageSize, &mapped) == 0, let mapped
            {
                return (mapped, .secret)
            }
            var isLocked: CInt = 0
            let failure = ckeychain_map_pages(Self.pageSize, &mapped, &isLocked)
            guard failure == 0, let mapped else {
                throw KeychainError(.allocation, message: "no memory for keys could be mapped (errno \(failure))")
            }
            return (mapped, isLocked != 0 ? .locked : .ordinary)
        }

        func give(_ bytes: UnsafeMutableRawBufferPointer, _ kind: KeyMemoryKind) {
            let piece = Piece(bytes: bytes, kind: kind)
            idle.withLock { $0[bytes.count, default: []].append(piece) }
        }
    }
}
