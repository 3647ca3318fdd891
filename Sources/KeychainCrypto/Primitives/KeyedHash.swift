internal import KeychainSystem

/// HMAC-SHA-256 (RFC 2104) whose key never reaches the heap.
///
/// swift-crypto's `HMAC` builds its two padded keys in arrays that are freed without being erased, and
/// class and index keys must leave no copy behind (docs/decisions/002-own-hmac.md).
package struct KeyedHash {
    package static let byteCount = SHA256State.byteCount

    private var inner = SHA256State()
    private var outer = SHA256State()

    /// - Parameter key: At most 64 bytes; every key of ours has 32.
    package init(key: UnsafeRawBufferPointer) {
        precondition(key.count <= SHA256State.blockSize)
        withUnsafeTemporaryAllocation(byteCount: SHA256State.blockSize, alignment: 16) { pad in
            pad.initializeMemory(as: UInt8.self, repeating: 0x36)
            for index in key.indices { pad[index] ^= key[index] }
            inner.update(UnsafeRawBufferPointer(pad))
            for index in pad.indices { pad[index] ^= 0x36 ^ 0x5c }
            outer.update(UnsafeRawBufferPointer(pad))
            ckeychain_erase(pad.baseAddress, pad.count)
        }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        inner.update(bytes)
    }

    /// The code of everything fed so far.
    ///
    /// - Parameter code: 32 bytes.
    package mutating func finalize(into code: UnsafeMutableRawBufferPointer) {
        inner.finalize(into: code)
        outer.update(UnsafeRawBufferPointer(code))
        outer.finalize(into: code)
    }

    /// Calls `body` with the code, which is erased afterwards.
    package mutating func finalize<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 16) { code in
            defer { ckeychain_erase(code.baseAddress, code.count) }
            finalize(into: code)
            return body(UnsafeRawBufferPointer(code))
        }
    }
}

extension KeyedHash {
    /// HKDF-Expand (RFC 5869, section 2.3) for one block of output.
    ///
    /// The extract step is left out, as section 3.3 allows: every key it is given is 256 random bits, or was
    /// extracted.
    static func expand(
        _ key: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer, into derived: UnsafeMutableRawBufferPointer
    ) {
        var hash = KeyedHash(key: key)
        hash.update(info)
        withUnsafeBytes(of: UInt8(1)) { hash.update($0) }
        hash.finalize(into: derived)
    }

    /// Calls `body` with the key, which is erased afterwards.
    static func withExpanded<R, E: Error>(
        _ key: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 16) { derived in
            defer { ckeychain_erase(derived.baseAddress, derived.count) }
            expand(key, info: info, into: derived)
            return Result { () throws(E) in try body(UnsafeRawBufferPointer(derived)) }
        }.get()
    }
}
