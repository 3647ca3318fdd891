internal import Glibc
package import KeychainSystem

extension UnsafeMutableRawBufferPointer {
    /// Reads from a place in a file until this is full or the file ends.
    ///
    /// - Returns: The number of bytes that were read.
    package func fill(from file: Int32, at offset: UInt64, _ path: String) throws(DataProtectionError) -> Int {
        var count = 0
        while count < self.count {
            let read = pread(file, baseAddress! + count, self.count - count, off_t(offset) + off_t(count))
            if read < 0 && errno == EINTR { continue }
            guard read >= 0 else { throw .system("read", path) }
            if read == 0 { break }
            count += read
        }
        return count
    }
}

extension FileSystem {
    /// Writes bytes at a place in a file.
    ///
    /// Some kernels keep the pages of one call together, and look at all of these whenever one of them is written
    /// again. So a large write is made in parts.
    package func writeAll(
        _ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: UInt64, _ path: String
    ) throws(DataProtectionError) {
        var count = 0
        while count < bytes.count {
            let part = bytes[count..<min(count + (128 << 10), bytes.count)]
            let written = write(UnsafeRawBufferPointer(rebasing: part), to: file, at: Int(offset) + count)
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw .system("write", path, errno: written == 0 ? EIO : errno) }
            count += written
        }
    }
}

extension FilePath {
    /// The number of bytes of an open file.
    ///
    /// It is asked for at each write. After a look at the status, Linux 6.13 and later give the next write times of full
    /// precision, and the inode goes to the journal each time.
    package static func size(of file: Int32, _ path: String) throws(DataProtectionError) -> UInt64 {
        let size = lseek(file, 0, SEEK_END)
        guard size >= 0 else { throw .system("read", path) }
        return UInt64(size)
    }
}
