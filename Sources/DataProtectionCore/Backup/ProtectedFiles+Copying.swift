internal import Glibc
internal import KeychainModel
package import KeychainSystem
package import SealedFiles

extension ProtectedFiles {
    /// Copies all bytes of a file as they are.
    func copyBytes(
        of shared: borrowing SharedFile, to new: borrowing Replacement, _ progress: (Progress) -> Void
    ) throws(DataProtectionError) {
        let (descriptor, path, size) = (shared.file.descriptor, shared.file.path, shared.file.size)
        try DiskSpace(of: new.descriptor)?.require(size, for: path)
        let buffer = ContentBuffer(count: 1 << 20)
        shared.file.willBeRead()
        var offset: UInt64 = 0
        while offset < size {
            let part = buffer.bytes.extracting(..<Int(min(size - offset, UInt64(buffer.bytes.count))))
            guard try part.fill(from: descriptor, at: offset, path) == part.count else {
                throw DataProtectionError(.truncated, path, "the file was cut short while it was being copied")
            }
            try files.writeAll(UnsafeRawBufferPointer(part), to: new.descriptor, at: offset, new.path)
            offset += UInt64(part.count)
            progress(Progress(completed: offset, total: size))
        }
    }
}

extension DiskSpace {
    /// Makes sure that there is room for a new file, before anything is written.
    ///
    /// - Parameter path: The path of the file that the new one is made of.
    /// - Throws: `.system` with `ENOSPC` if fewer bytes are free.
    package func require(_ needed: UInt64, for path: String) throws(DataProtectionError) {
        guard let free, free < needed else { return }
        throw DataProtectionError(
            .system, path,
            "the disk has \(ByteCount.text(free)) free, and the new file takes \(ByteCount.text(needed))",
            errno: ENOSPC)
    }
}
