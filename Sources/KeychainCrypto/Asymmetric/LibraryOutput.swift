internal import Foundation
internal import KeychainModel

/// What the cipher library writes.
enum LibraryOutput {
    /// Runs a function that writes up to `capacity` bytes and says how many.
    ///
    /// - Throws: `.parameter` if it returns anything but 1, without the library's own reason: how an operation with a private key
    ///   fails must not tell an attacker anything.
    static func collect(
        upTo capacity: Int, _ failure: @autoclosure () -> String,
        _ body: (UnsafeMutablePointer<UInt8>?, inout Int) -> CInt
    ) throws(KeychainError) -> Data {
        var result = Data(count: capacity)
        var count = capacity
        let isDone = result.withUnsafeMutableBytes { body($0.octets, &count) } == 1
        guard isDone else {
            CCryptoBoringSSL_ERR_clear_error()
            throw KeychainError(.parameter, message: failure())
        }
        return result.count == count ? result : Data(result.prefix(count))
    }

    /// Runs a function that allocates what it writes. The library's copy is erased.
    static func collect(
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int>) -> CInt
    ) -> Data? {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard body(&bytes, &count) == 1, let bytes else {
            CCryptoBoringSSL_ERR_clear_error()
            return nil
        }
        defer { CCryptoBoringSSL_OPENSSL_free(bytes) }
        return Data(bytes: bytes, count: count)
    }
}
