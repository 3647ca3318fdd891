package import FoundationEssentials
package import KeychainModel

/// Collects the output of calls of the cipher library.
///
/// No call leaves anything in the library's list of errors, also after success: a program that uses the library itself
/// would take it for an error of its own.
package enum LibraryOutput {
    /// - Returns: the result of the closure.
    package static func leavingNoErrors<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { CCryptoBoringSSL_ERR_clear_error() }
        return try body()
    }

    /// ``leavingNoErrors(_:)`` for frequent calls that leave errors only if they fail.
    static func leavingNoErrors(ofFailure isDone: Bool) -> Bool {
        if !isDone { CCryptoBoringSSL_ERR_clear_error() }
        return isDone
    }

    /// Runs a function that writes up to `capacity` bytes and says how many.
    ///
    /// - Throws: `.parameter` if it returns anything but 1, without the library's own reason: how an operation with a private key
    ///   fails must not tell an attacker anything.
    package static func collect(
        upTo capacity: Int, _ failure: @autoclosure () -> String,
        _ body: (UnsafeMutablePointer<UInt8>?, inout Int) -> CInt
    ) throws(KeychainError) -> Data {
        var result = Data(count: capacity)
        var count = capacity
        let isDone = leavingNoErrors { result.withUnsafeMutableBytes { body($0.octets, &count) } } == 1
        guard isDone else { throw KeychainError(.parameter, message: failure()) }
        return result.count == count ? result : Data(result.prefix(count))
    }

    /// Runs a function of the library that allocates its output. The library's own copy is erased.
    package static func collect(
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int>) -> CInt
    ) -> Data? {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard leavingNoErrors({ body(&bytes, &count) }) == 1, let bytes else { return nil }
        defer { CCryptoBoringSSL_OPENSSL_free(bytes) }
        return Data(bytes: bytes, count: count)
    }
}
