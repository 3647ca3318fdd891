internal import KeychainCrypto

extension SealedFile {
    /// Reads from a place until the target is full or the content ends, all of it from one version of the file.
    ///
    /// - Returns: The number of bytes.
    package func read(
        at offset: UInt64, into target: UnsafeMutableRawBufferPointer, _ access: Access = .beginning
    ) throws(DataProtectionError) -> Int {
        try reading(at: offset, into: target, access).count
    }

    /// Reads the whole content.
    ///
    /// - Returns: false if the content has another length by now.
    package func readAll(into target: UnsafeMutableRawBufferPointer) throws(DataProtectionError) -> Bool {
        let (count, length) = try reading(at: 0, into: target, .continuing)
        return count == target.count && length == UInt64(count)
    }

    private static let hastyReads = 4

    /// Reads, and returns the length that the content had too.
    private func reading(
        at offset: UInt64, into target: UnsafeMutableRawBufferPointer, _ access: Access
    ) throws(DataProtectionError) -> (count: Int, length: UInt64) {
        // A writer may use pages again that this call is reading. After a few attempts the writer has to wait.
        for _ in 0..<Self.hastyReads {
            let found = try current(access)
            do throws(DataProtectionError) {
                return try read(found, at: offset, into: target)
            } catch {
                guard error.code == .tampered || error.code == .truncated,
                    try version(in: descriptor(), isLocked: false).version !== found.version
                else { throw error }
            }
        }
        return try withSharedLock(try descriptor()) { () throws(DataProtectionError) in
            try read(try current(.continuing, isLocked: true), at: offset, into: target)
        }
    }

    private func read(
        _ found: Found, at offset: UInt64, into target: UnsafeMutableRawBufferPointer
    ) throws(DataProtectionError) -> (count: Int, length: UInt64) {
        let length = found.version.header.length
        guard offset < length else { return (0, length) }
        let count = Int(min(UInt64(target.count), length - offset))
        let reader = SealedFileReader(
            try descriptor().number, path, header: found.version.header, cipher: found.key.cipher,
            nodes: found.key.nodes)
        try reader.read(
            offset..<(offset + UInt64(count)), into: UnsafeMutableRawBufferPointer(rebasing: target[..<count]))
        return (count, length)
    }
}
