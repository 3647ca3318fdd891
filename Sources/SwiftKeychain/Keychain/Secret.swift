public import Foundation
internal import KeychainModel

/// Bytes that are erased when the value goes. It cannot be copied by accident, and does not show its bytes.
///
/// What is made from the bytes, a `String` or a `Data`, is not erased.
public struct Secret: ~Copyable, Sendable {
    let bytes: SecretBytes

    init(_ bytes: SecretBytes) { self.bytes = bytes }

    /// A copy. The original is the caller's to erase.
    public init(copying bytes: some ContiguousBytes) { self.bytes = SecretBytes(bytes) }

    /// How many bytes there are.
    public var count: Int { bytes.count }

    /// Runs `body` with the bytes, which must not escape from it.
    public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try bytes.withUnsafeBytes(body)
    }

    /// Whether the bytes are the same ones. How long it takes does not tell where they differ.
    public func hasSameBytes(as other: borrowing Secret) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { own in
            other.withUnsafeBytes { zip(own, $0).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0 }
        }
    }
}
