package import FoundationEssentials
internal import Glibc
internal import KeychainSystem
internal import Synchronization

/// Memory for content in transit. It is erased when it is released.
package final class ContentBuffer: @unchecked Sendable {  // its owner does not share it
    package let bytes: UnsafeMutableRawBufferPointer
    private let mustReturn: Bool
    /// Whether the memory has to be erased.
    var isSecret = true

    /// Allocates memory.
    ///
    /// - Parameter count: The number of bytes. A whole number of pages shares no page with anything else.
    package convenience init(count: Int) {
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
    /// Memory that was used before, if there is some of this size, for work that is done often.
    ///
    /// It takes less time than getting pages from the system.
    ///
    /// - Parameter count: The smallest number of bytes. It is rounded up, so that there are few sizes.
    static func spare(count: Int) -> ContentBuffer {
        let count = max(4096, 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount))
        return ContentBuffer(
            Spares.shared.take(count) ?? .allocate(byteCount: count, alignment: 4096), mustReturn: true)
    }

    /// Memory without content in clear, kept for the next use.
    private final class Spares: Sendable {
        static let shared = Spares()
        /// The largest number of pieces of one size.
        private static let most = 4

        private struct Piece: @unchecked Sendable {  // unused memory
            package let bytes: UnsafeMutableRawBufferPointer
        }
        private let pieces = Mutex<[Int: [Piece]]>([:])

        func take(_ count: Int) -> UnsafeMutableRawBufferPointer? {
            pieces.withLock { $0[count]?.popLast()?.bytes }
        }

        /// Takes a piece back.
        ///
        /// - Returns: false if there are enough of this size.
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

extension Data {
    /// Content that is read into memory. If reading fails, the memory is erased: some parts may have been decrypted.
    ///
    /// - Parameter read: Puts the content into memory, and returns the number of bytes. `nil` stands for none that
    ///   can be used.
    package static func content(
        ofAtMost count: Int, _ path: String,
        _ read: (UnsafeMutableRawBufferPointer) throws(DataProtectionError) -> Int?
    ) throws(DataProtectionError) -> Data? {
        if count == 0 { return Data() }
        guard let bytes = malloc(count) else { throw .system("read into memory", path, errno: ENOMEM) }
        var isGiven = false
        defer {
            if !isGiven {
                ckeychain_erase(bytes, count)
                free(bytes)
            }
        }
        guard let used = try read(UnsafeMutableRawBufferPointer(start: bytes, count: count)) else { return nil }
        isGiven = true
        return Data(bytesNoCopy: bytes, count: used, deallocator: .free)
    }

    package func withBytes<R>(
        _ body: (UnsafeRawBufferPointer) throws(DataProtectionError) -> R
    ) throws(DataProtectionError) -> R {
        try withUnsafeBytes { bytes in Result { () throws(DataProtectionError) in try body(bytes) } }.get()
    }

    package mutating func withMutableBytes<R>(
        _ body: (UnsafeMutableRawBufferPointer) throws(DataProtectionError) -> R
    ) throws(DataProtectionError) -> R {
        try withUnsafeMutableBytes { bytes in Result { () throws(DataProtectionError) in try body(bytes) } }.get()
    }
}

extension UnsafeMutableRawBufferPointer {
    /// A part of the memory, with indices from 0, as typed buffers have it.
    package func extracting(_ range: some RangeExpression<Int>) -> Self { Self(rebasing: self[range]) }

    func zero(_ range: Range<Int>) { extracting(range).initializeMemory(as: UInt8.self, repeating: 0) }
}

extension UnsafeRawBufferPointer {
    package func extracting(_ range: some RangeExpression<Int>) -> Self { Self(rebasing: self[range]) }
}
