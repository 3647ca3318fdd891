internal import Glibc

/// Bytes that grow, with nothing left behind where they were before.
package final class SecretBuffer {
    private var storage: UnsafeMutableRawBufferPointer
    package private(set) var count = 0

    package init() { storage = .allocate(byteCount: 16 << 10, alignment: 16) }

    deinit { Self.release(storage) }

    /// Space for the next bytes, never empty.
    package func room() -> UnsafeMutableRawBufferPointer {
        if count == storage.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: storage.count * 2, alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(storage))
            Self.release(storage)
            storage = larger
        }
        return UnsafeMutableRawBufferPointer(rebasing: storage[count...])
    }

    package func advance(by length: Int) { count += length }

    package func append(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let room = room()
            let part = rest.prefix(room.count)
            room.copyBytes(from: part)
            advance(by: part.count)
            rest = rest.dropFirst(part.count)
        }
    }

    package func append(_ text: some StringProtocol) {
        var text = String(text)
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    package func append(_ byte: UInt8) {
        room()[0] = byte
        advance(by: 1)
    }

    package func appendBase64(of secret: SecretBytes) {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        secret.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let group = bytes[start..<min(start + 3, bytes.count)]
                let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
                for place in 0..<4 {
                    append(place > group.count ? UInt8(ascii: "=") : digits[bits >> (18 - 6 * place) & 0x3f])
                }
            }
        }
    }

    /// Whether the buffer has one of these bytes.
    package func containsAny(of bytes: [UInt8]) -> Bool { storage[..<count].contains(where: bytes.contains) }

    package func removeAll() {
        explicit_bzero(storage.baseAddress!, storage.count)  // never empty
        count = 0
    }

    /// The bytes that are there, which the closure may use until it returns.
    package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(rebasing: storage[..<count]))
    }

    /// A copy of the content.
    package func secret() -> SecretBytes { withUnsafeBytes { SecretBytes(copying: $0) } }

    private static func release(_ bytes: UnsafeMutableRawBufferPointer) {
        explicit_bzero(bytes.baseAddress!, bytes.count)  // never empty
        bytes.deallocate()
    }
}
