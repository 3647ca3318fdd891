internal import CKeychainLinux
internal import Crypto

/// HMAC-SHA-256 (RFC 2104) whose key never reaches the heap.
///
/// swift-crypto's `HMAC` builds its two padded keys in arrays that are freed without being erased, and
/// class and index keys must leave no copy behind. The hash itself is swift-crypto's, which erases its state.
struct KeyedHash {
    static let byteCount = 32
    private static let blockSize = 64

    private var inner = SHA256()
    private var outer = SHA256()

    /// - Parameter key: At most 64 bytes; every key of ours has 32.
    init(key: UnsafeRawBufferPointer) {
        precondition(key.count <= Self.blockSize)
        withUnsafeTemporaryAllocation(byteCount: Self.blockSize, alignment: 16) { pad in
            pad.initializeMemory(as: UInt8.self, repeating: 0x36)
            for index in key.indices { pad[index] ^= key[index] }
            inner.update(bufferPointer: UnsafeRawBufferPointer(pad))
            for index in pad.indices { pad[index] ^= 0x36 ^ 0x5c }
            outer.update(bufferPointer: UnsafeRawBufferPointer(pad))
            ckeychain_erase(pad.baseAddress, pad.count)
        }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        inner.update(bufferPointer: bytes)
    }

    /// The code of everything fed so far; the 32 bytes are there for the length of the closure.
    mutating func finalize<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        inner.finalize().withUnsafeBytes { outer.update(bufferPointer: $0) }
        let code = outer.finalize()
        var result: Result<R, E>?
        code.withUnsafeBytes { bytes in
            do throws(E) { result = .success(try body(bytes)) } catch { result = .failure(error) }
        }
        return try result!.get()
    }
}

extension KeyedHash {
    /// HKDF-Expand (RFC 5869, section 2.3) for one block of output.
    ///
    /// The extract step is left out, as section 3.3 allows: every key it is given is 256 random bits.
    static func deriveKey(from key: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer) -> SymmetricKey {
        var hash = KeyedHash(key: key)
        hash.update(info)
        withUnsafeBytes(of: UInt8(1)) { hash.update($0) }
        return hash.finalize { SymmetricKey(data: $0) }
    }
}
