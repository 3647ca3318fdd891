internal import CCryptoBoringSSL

/// A running SHA-256 (FIPS 180-4) that lives where it is declared.
///
/// swift-crypto's own keeps its state in an object on the heap, and a copy of it is another one: an index token needs
/// four.
struct SHA256State {
    static let byteCount = 32
    static let blockSize = 64

    /// The library's state. Words rather than its type, which modules above this one cannot see.
    private var words = InlineArray<14, UInt64>(repeating: 0)

    init() {
        withState { _ = CCryptoBoringSSL_SHA256_Init($0) }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        withState { _ = CCryptoBoringSSL_SHA256_Update($0, start, bytes.count) }
    }

    /// - Parameter digest: 32 bytes.
    mutating func finalize(into digest: UnsafeMutableRawBufferPointer) {
        precondition(digest.count == Self.byteCount)
        withState {
            _ = CCryptoBoringSSL_SHA256_Final(digest.baseAddress?.assumingMemoryBound(to: UInt8.self), $0)
        }
    }

    private mutating func withState(_ body: (UnsafeMutablePointer<SHA256_CTX>) -> Void) {
        precondition(MemoryLayout<SHA256_CTX>.size <= MemoryLayout<InlineArray<14, UInt64>>.size)
        withUnsafeMutableBytes(of: &words) { bytes in
            bytes.withMemoryRebound(to: SHA256_CTX.self) { body($0.baseAddress!) }  // never empty
        }
    }

    static func hash(_ bytes: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer) {
        var state = SHA256State()
        state.update(bytes)
        state.finalize(into: digest)
    }
}
