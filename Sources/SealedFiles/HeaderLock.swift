internal import KeychainCrypto
internal import KeychainSystem

/// The lock of a file's first page (docs/file-format.md, "Several programs").
///
/// Where a case says "if free", a program in the way is an error: EAGAIN or EACCES. Otherwise the call waits for it.
package enum HeaderLock {
    /// No other program writes the file, or keeps it from being written.
    case exclusive, exclusiveIfFree
    /// No program writes the file.
    case shared, sharedIfFree

    /// Takes the lock. It ends when the descriptor is closed.
    package func take(_ file: Int32, _ path: String) throws(DataProtectionError) {
        let failure =
            switch self {
            case .exclusive: ckeychain_await_lock(file, Self.count)
            case .exclusiveIfFree: ckeychain_try_lock(file, Self.count)
            case .shared: ckeychain_await_shared_lock(file, Self.count)
            case .sharedIfFree: ckeychain_share_lock(file, Self.count)
            }
        guard failure == 0 else { throw .system("lock", path, errno: failure) }
    }

    /// Runs `body` under the lock.
    package func during<R>(
        _ file: Int32, _ path: String, _ body: () throws(DataProtectionError) -> R
    ) throws(DataProtectionError) -> R {
        try take(file, path)
        defer { _ = ckeychain_unlock(file, Self.count) }
        return try body()
    }

    private static let count = Int64(FileFormat.headerByteCount)
}
