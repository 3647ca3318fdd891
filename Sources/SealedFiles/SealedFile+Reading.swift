package import FoundationEssentials
internal import KeychainCrypto

extension SealedFile {
    /// Reads from a place until the target is full or the content ends, all of it from one version of the file.
    ///
    /// - Returns: The number of bytes.
    package func read(
        at offset: UInt64, into target: UnsafeMutableRawBufferPointer, _ access: Access = .beginning
    ) throws(DataProtectionError) -> Int {
        try reading(access) { (found) throws(DataProtectionError) in try read(found, at: offset, into: target) }
    }

    /// Reads at most so many bytes from a place. One version of the file gives the bytes and their number.
    package func content(at offset: UInt64, count: Int) throws(DataProtectionError) -> Data {
        try reading(.beginning) { (found) throws(DataProtectionError) in
            let length = found.version.header.length
            let count = Int(min(UInt64(count), length - min(offset, length)))
            return try Data.content(ofAtMost: count, path) { (target) throws(DataProtectionError) in
                try read(found, at: offset, into: target)
            } ?? Data()
        }
    }

    /// Reads the whole content.
    ///
    /// - Returns: false if the content has another length by now.
    package func readAll(into target: UnsafeMutableRawBufferPointer) throws(DataProtectionError) -> Bool {
        try reading(.continuing) { (found) throws(DataProtectionError) in
            try read(found, at: 0, into: target) == target.count && found.version.header.length == target.count
        }
    }

    private static let hastyReads = 4

    /// Reads one version.
    ///
    /// - Parameter body: Called with a version, and again with a later one if a writer has used its pages again.
    private func reading<R: Sendable>(
        _ access: Access, _ body: (Found) throws(DataProtectionError) -> R
    ) throws(DataProtectionError) -> R {
        // A writer may use pages again that this call is reading. After a few attempts the writer has to wait.
        for _ in 0..<Self.hastyReads {
            let found = try current(access)
            do throws(DataProtectionError) {
                return try body(found)
            } catch {
                guard error.code == .tampered || error.code == .truncated,
                    try version(in: descriptor(), isLocked: false).version !== found.version
                else { throw error }
            }
        }
        return try withSharedLock(try descriptor()) { () throws(DataProtectionError) in
            try body(try current(.continuing, isLocked: true))
        }
    }

    private func read(
        _ found: Found, at offset: UInt64, into target: UnsafeMutableRawBufferPointer
    ) throws(DataProtectionError) -> Int {
        let length = found.version.header.length
        guard offset < length else { return 0 }
        let count = Int(min(UInt64(target.count), length - offset))
        let reader = SealedFileReader(
            try descriptor().number, path, header: found.version.header, cipher: found.key.cipher,
            nodes: found.key.nodes)
        try reader.read(offset..<(offset + UInt64(count)), into: target.extracting(..<count))
        return count
    }
}
