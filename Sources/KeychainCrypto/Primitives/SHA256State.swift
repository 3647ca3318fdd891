/// A running SHA-256 (FIPS 180-4) that lives where it is declared.
///
/// swift-crypto's own keeps its state in an object on the heap, and a copy of it is another one: an index token needs
/// four.
struct SHA256State {
    static let byteCount = 32
    static let blockSize = 64

    /// The library's state, `SHA256_CTX`.
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

    private mutating func withState(_ body: (UnsafeMutableRawPointer) -> Void) {
        withUnsafeMutableBytes(of: &words) { body($0.baseAddress!) }  // never empty
    }

    static func hash(_ bytes: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer) {
        var state = SHA256State()
        state.update(bytes)
        state.finalize(into: digest)
    }
}
