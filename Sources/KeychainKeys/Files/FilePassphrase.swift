package import KeychainModel

/// A passphrase of a file, in the two forms that schemes take.
package struct FilePassphrase: Sendable {
    /// The bytes as they were typed, for the schemes of PKCS#5.
    let bytes: SecretBytes
    /// The text as UTF-16, the higher byte first, with a zero at the end, for the schemes of PKCS#12 (RFC 7292,
    /// appendix B.1).
    let wide: SecretBytes

    /// - Parameter bytes: UTF-8. If they are not, each byte counts as a character, as OpenSSL has it.
    package init(_ bytes: SecretBytes) {
        self.bytes = bytes
        wide = bytes.withUnsafeBytes { bytes in
            var count = 0
            let isText = Self.forEachUnit(of: bytes) { _ in count += 2 }
            return SecretBytes(count: (isText ? count : 2 * bytes.count) + 2) { target in
                target.initializeMemory(as: UInt8.self, repeating: 0)
                var index = 0
                func append(_ unit: UInt16) {
                    (target[index], target[index + 1]) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
                    index += 2
                }
                if isText {
                    _ = Self.forEachUnit(of: bytes, append)
                } else {
                    for byte in bytes { append(UInt16(byte)) }
                }
            }
        }
    }

    private init(bytes: SecretBytes, wide: SecretBytes) { (self.bytes, self.wide) = (bytes, wide) }

    var isEmpty: Bool { bytes.count == 0 }

    /// No passphrase at all, which some programs write for an empty one.
    package static let absent = FilePassphrase(
        bytes: SecretBytes(count: 0) { _ in }, wide: SecretBytes(count: 0) { _ in })

    /// The possible readings of a passphrase: an empty one has two forms.
    package var readings: [FilePassphrase] { isEmpty ? [self, .absent] : [self] }

    /// - Returns: false for bytes that are no UTF-8.
    private static func forEachUnit(of bytes: UnsafeRawBufferPointer, _ body: (UInt16) -> Void) -> Bool {
        var (source, decoder) = (bytes.makeIterator(), UTF8())
        while true {
            switch decoder.decode(&source) {
            case .scalarValue(let scalar): UTF16.encode(scalar)?.forEach(body)
            case .emptyInput: return true
            case .error: return false
            }
        }
    }
}
