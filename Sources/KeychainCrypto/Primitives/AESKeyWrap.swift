/// AES-256 key wrap (RFC 3394), of 256-bit keys nearly everywhere, in memory that the caller owns and erases.
///
/// swift-crypto's own returns the unwrapped key by way of an array that is freed as it is
/// (docs/decisions/009-boringssl-for-keys.md).
enum AESKeyWrap {
    /// The length of a wrapped 256-bit key.
    static let wrappedByteCount = 40
    /// A wrapped key is longer by this.
    static let overhead = 8

    /// - Parameters:
    ///   - key: A multiple of 8 bytes, 16 at least.
    ///   - wrapped: ``overhead`` bytes more.
    static func wrap(
        _ key: UnsafeRawBufferPointer, under wrappingKey: UnsafeRawBufferPointer,
        into wrapped: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard isWrappable(key.count), wrapped.count == key.count + overhead else { return false }
        return withSchedule { schedule in
            CCryptoBoringSSL_AES_set_encrypt_key(wrappingKey.octets, 256, schedule) == 0
                && CCryptoBoringSSL_AES_wrap_key(schedule, nil, wrapped.octets, key.octets, key.count) == wrapped.count
        }
    }

    /// - Parameter key: ``overhead`` bytes fewer than the wrapped ones.
    /// - Returns: false if the bytes were not wrapped under this key: the content of `key` then is of no use.
    static func unwrap(
        _ wrapped: UnsafeRawBufferPointer, under wrappingKey: UnsafeRawBufferPointer,
        into key: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard isWrappable(key.count), wrapped.count == key.count + overhead else { return false }
        return withSchedule { schedule in
            CCryptoBoringSSL_AES_set_decrypt_key(wrappingKey.octets, 256, schedule) == 0
                && CCryptoBoringSSL_AES_unwrap_key(schedule, nil, key.octets, wrapped.octets, wrapped.count)
                    == key.count
        }
    }

    private static func isWrappable(_ count: Int) -> Bool { count >= 16 && count % 8 == 0 }

    private static func withSchedule(_ body: (UnsafeMutableRawPointer) -> Bool) -> Bool {
        LibraryState.with(byteCount: LibraryState.schedule, body)
    }
}

extension UnsafeRawBufferPointer {
    package var octets: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawBufferPointer {
    package var octets: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
