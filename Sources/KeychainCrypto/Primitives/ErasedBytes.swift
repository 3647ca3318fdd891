internal import KeychainModel
internal import KeychainSystem

/// Calls `body` with memory that is erased afterwards.
func withErasedBytes<R>(
    _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(KeychainError) -> R
) throws(KeychainError) -> R {
    var result: Result<R, KeychainError>?
    withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { bytes in
        defer { ckeychain_erase(bytes.baseAddress, bytes.count) }
        do throws(KeychainError) { result = .success(try body(bytes)) } catch { result = .failure(error) }
    }
    return try result!.get()
}
