internal import KeychainModel
internal import KeychainSystem

/// Calls `body` with memory that is erased afterwards.
func withErasedBytes<R>(
    _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(KeychainError) -> R
) throws(KeychainError) -> R {
    try withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { bytes in
        defer { ckeychain_erase(bytes.baseAddress, bytes.count) }
        return Result { () throws(KeychainError) in try body(bytes) }
    }.get()
}
