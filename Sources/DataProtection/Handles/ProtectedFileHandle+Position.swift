public import Foundation
internal import Synchronization

/// One after the other, with the names that Foundation's `FileHandle` has. Calls from several threads at once each take
/// their part.
extension ProtectedFileHandle {
    /// Where the next of these calls reads or writes, in bytes from the beginning.
    public func offset() -> UInt64 { position.withLock { $0 } }

    public func seek(toOffset offset: UInt64) { position.withLock { $0 = offset } }

    /// - Returns: where the end is now.
    @discardableResult
    public func seekToEnd() throws(DataProtectionError) -> UInt64 {
        let end = try length
        seek(toOffset: end)
        return end
    }

    /// Reads up to as many bytes.
    ///
    /// - Returns: nil at the end.
    public func read(upToCount count: Int) throws(DataProtectionError) -> Data? {
        try position.withLock { position throws(DataProtectionError) in
            let data = try read(at: position, count: count)
            position += UInt64(data.count)
            return data.isEmpty && count > 0 ? nil : data
        }
    }

    /// - Returns: nil at the end.
    public func readToEnd() throws(DataProtectionError) -> Data? { try read(upToCount: .max) }

    /// Writes, or adds to the end if the file was opened with ``ProtectedFiles/OpenOptions/append``.
    public func write(contentsOf data: some DataProtocol) throws(DataProtectionError) {
        let data = Data(data)
        try position.withLock { position throws(DataProtectionError) in
            if appends { position = try append(data) } else { try write(data, at: position) }
            position += UInt64(data.count)
        }
    }

    /// The same as `truncate(to:)`, and goes there.
    public func truncate(atOffset offset: UInt64) throws(DataProtectionError) {
        try truncate(to: offset)
        seek(toOffset: offset)
    }

    /// The same as `sync()`.
    public func synchronize() throws(DataProtectionError) { try sync() }
}
