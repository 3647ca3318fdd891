public import FoundationEssentials
public import SealedFiles
internal import Synchronization

/// Calls that go on where the last one ended, with the names of Foundation's `FileHandle`.
///
/// A handle has one position. Calls from several threads take turns, and each takes its own part.
extension ProtectedFileHandle {
    /// The position at which the next of these calls reads or writes, in bytes from the beginning.
    ///
    /// It is 0 after opening. The calls with `at:` neither use nor move it.
    public func offset() -> UInt64 { position.withLock { $0 } }

    /// Moves the position. A place behind the end is allowed: reading there gives `nil`, and writing leaves zeros
    /// between.
    ///
    /// - Parameter offset: The new position in bytes from the beginning.
    public func seek(toOffset offset: UInt64) { position.withLock { $0 = offset } }

    /// Moves the position to the end of the content.
    ///
    /// Other programs may add to the file afterwards. For records from several programs use `append(_:)`, which finds
    /// the end and writes in one step.
    ///
    /// - Returns: The length of the content in bytes.
    /// - Throws: `.locked`, as every call.
    @discardableResult
    public func seekToEnd() throws(DataProtectionError) -> UInt64 {
        let end = try length
        seek(toOffset: end)
        return end
    }

    /// Reads bytes at the position and moves it behind them.
    ///
    /// ```swift
    /// while let part = try handle.read(upToCount: 1 << 20) { hash.update(part) }
    /// ```
    ///
    /// - Parameter count: The largest number of bytes.
    /// - Returns: `nil` at the end of the content.
    /// - Throws: The errors of `read(at:count:)`. The position stays then.
    public func read(upToCount count: Int) throws(DataProtectionError) -> Data? {
        try position.withLock { position throws(DataProtectionError) in
            let data = try read(at: position, count: count)
            position += UInt64(data.count)
            return data.isEmpty && count > 0 ? nil : data
        }
    }

    /// Reads all bytes from the position to the end, into memory.
    ///
    /// - Returns: `nil` at the end of the content.
    /// - Throws: The errors of `read(at:count:)`; `.system` with `ENOMEM` for more than the memory holds.
    public func readToEnd() throws(DataProtectionError) -> Data? { try read(upToCount: .max) }

    /// Writes bytes at the position and moves it behind them.
    ///
    /// A file that was opened with ``ProtectedFiles/OpenOptions/append`` gets them at its end, wherever that is at this
    /// moment.
    ///
    /// - Parameter data: The bytes.
    /// - Throws: The errors of `write(_:at:)`. The position stays then.
    public func write(contentsOf data: some DataProtocol) throws(DataProtectionError) {
        let data = Data(data)
        try position.withLock { position throws(DataProtectionError) in
            if appends { position = try append(data) } else { try write(data, at: position) }
            position += UInt64(data.count)
        }
    }

    /// Makes the content shorter or longer, as `truncate(to:)`, and moves the position to the new end.
    ///
    /// - Parameter offset: The new length in bytes.
    /// - Throws: The errors of `truncate(to:)`. The position stays then.
    public func truncate(atOffset offset: UInt64) throws(DataProtectionError) {
        try truncate(to: offset)
        seek(toOffset: offset)
    }

    /// Waits for the disk, as `sync()`, under the name that Foundation's `FileHandle` has.
    ///
    /// - Throws: The errors of `sync()`.
    public func synchronize() throws(DataProtectionError) { try sync() }
}
