/// scrypt (RFC 7914), with its result in memory that the caller owns.
package enum Scrypt {
    /// - Parameters:
    ///   - cost: N as its logarithm to base two.
    ///   - key: Filled; any length.
    /// - Returns: false if the parameters are not valid or there is no memory.
    package static func derive(
        _ passcode: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, cost: UInt8, blockSize: UInt32,
        parallelism: UInt32, into key: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard cost >= 1, cost < 32, blockSize >= 1, parallelism >= 1 else { return false }
        let rounds = UInt64(1) << UInt64(cost)
        // The memory that RFC 7914, sections 5 and 6, need, and room for the library's own.
        let (block, overflow) = (128 * UInt64(blockSize)).multipliedReportingOverflow(
            by: rounds + UInt64(parallelism) + 2)
        guard !overflow, let most = Int(exactly: block) else { return false }
        return LibraryOutput.leavingNoErrors {
            CCryptoBoringSSL_EVP_PBE_scrypt(
                passcode.baseAddress?.assumingMemoryBound(to: CChar.self), passcode.count, salt.octets, salt.count,
                rounds, UInt64(blockSize), UInt64(parallelism), most, key.octets, key.count) == 1
        }
    }
}
