public import FoundationEssentials
internal import KeychainModel

/// Bytes that are erased when the value goes. The compiler forbids copies, and no description shows the bytes.
///
/// ```swift
/// if let pin = try keychain.secret(for: "pin") {
///     let isRight = pin.hasSameBytes(as: Secret(copying: typed))
/// }
/// ```
///
/// A `String` or a `Data` that is made from the bytes is not erased. The memory may be swapped out by the system before
/// it is erased.
public struct Secret: ~Copyable, Sendable {
    let bytes: SecretBytes

    init(_ bytes: SecretBytes) { self.bytes = bytes }

    static func bytes(of secret: borrowing Secret?) -> SecretBytes? {
        switch secret {
        case .some(let secret): secret.bytes
        case .none: nil
        }
    }

    /// Copies bytes. The original stays as it is, and the caller erases it.
    ///
    /// - Parameter bytes: The bytes.
    public init(copying bytes: some ContiguousBytes) { self.bytes = SecretBytes(bytes) }

    /// The number of bytes.
    public var count: Int { bytes.count }

    /// Runs `body` with the bytes. The pointer must not escape.
    ///
    /// - Parameter body: Uses the bytes.
    /// - Returns: The result of `body`.
    /// - Throws: An error of `body`.
    public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try bytes.withUnsafeBytes(body)
    }

    /// Compares the bytes in a time that does not tell where they differ. A different length is told at once.
    ///
    /// - Parameter other: The other bytes.
    public func hasSameBytes(as other: borrowing Secret) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { own in
            other.withUnsafeBytes { zip(own, $0).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0 }
        }
    }
}
