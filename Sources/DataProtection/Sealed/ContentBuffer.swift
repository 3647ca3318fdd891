internal import KeychainSystem
internal import Synchronization

/// Memory for content on its way, erased on release.
final class ContentBuffer: @unchecked Sendable {  // its owner shares it with nobody
    let bytes: UnsafeMutableRawBufferPointer
    private let mustReturn: Bool
    /// false: it has nothing that has to be erased.
    var isSecret = true

    /// - Parameter count: A whole number of pages does not share one with anything else.
    convenience init(count: Int) {
        self.init(.allocate(byteCount: count, alignment: 4096), mustReturn: false)
    }

    private init(_ bytes: UnsafeMutableRawBufferPointer, mustReturn: Bool) {
        self.bytes = bytes
        self.mustReturn = mustReturn
    }

    deinit {
        if isSecret { ckeychain_erase(bytes.baseAddress, bytes.count) }
        if mustReturn && Spares.shared.give(bytes) { return }
        bytes.deallocate()
    }
}

extension ContentBuffer {
    /// Memory that was used before, if there is some of this size: for what is done often, and takes less time than the
    /// system needs to provide pages.
    ///
    /// - Parameter count: At least; it is rounded up, so that there are few sizes.
    static func spare(count: Int) -> ContentBuffer {
        let count = max(4096, 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount))
        return ContentBuffer(
            Spares.shared.take(count) ?? .allocate(byteCount: count, alignment: 4096), mustReturn: true)
    }

    /// Memory without content in clear.
    private final class Spares: Sendable {
        static let shared = Spares()
        /// Of one size.
        private static let most = 4

        private struct Piece: @unchecked Sendable {  // unused memory
            let bytes: UnsafeMutableRawBufferPointer
        }
        private let pieces = Mutex<[Int: [Piece]]>([:])

        func take(_ count: Int) -> UnsafeMutableRawBufferPointer? {
            pieces.withLock { $0[count]?.popLast()?.bytes }
        }

        /// - Returns: false if there are enough.
        func give(_ bytes: UnsafeMutableRawBufferPointer) -> Bool {
            let piece = Piece(bytes: bytes)
            return pieces.withLock { pieces in
                guard pieces[bytes.count, default: []].count < Self.most else { return false }
                pieces[bytes.count, default: []].append(piece)
                return true
            }
        }
    }
}
