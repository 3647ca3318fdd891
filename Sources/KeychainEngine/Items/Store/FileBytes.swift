package import FoundationEssentials
internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// A file that is read in place, a piece at a time.
///
/// Closing such a file gives up every lock that this process holds on it, those of SQLite's connections included
/// (sqlite.org/howtocorrupt.html, section 2.2). So a database, or the index of its log, is read like this only while
/// ``OpenStores`` knows of no connection of this process to it.
package final class FileBytes {
    package let count: Int
    let descriptor: Int32

    /// - Returns: nil if there is no such file.
    /// - Throws: as ``OwnFile/open(_:_:of:_:)``.
    package init?(_ url: URL) throws(KeychainError) {
        guard let file = try OwnFile.open(url, O_RDONLY) else { return nil }
        var information = stat()
        guard fstat(file, &information) == 0 else {
            let failure = errno
            close(file)
            throw KeychainError(file: "read", url, failure)
        }
        descriptor = file
        count = Int(information.st_size)
    }

    deinit { close(descriptor) }

    /// Fills all of `target`.
    ///
    /// - Returns: false if the file ends too early, or cannot be read.
    func read(at offset: Int, into target: UnsafeMutableRawBufferPointer) -> Bool {
        var done = 0
        while done < target.count {
            let start = target.baseAddress! + done
            let count = pread(descriptor, start, target.count - done, off_t(offset + done))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Constants of lseek(2) on Linux; the C library shows them only to programs that ask for its extensions.
    private static let seekData: Int32 = 3
    private static let seekHole: Int32 = 4

    /// The ranges with content, in order. Holes are left out if the file system reports them.
    package var contentRanges: [Range<Int>] {
        var ranges: [Range<Int>] = []
        var place = off_t(0)
        while place < count {
            let start = lseek(descriptor, place, Self.seekData)
            if start < 0 && errno == ENXIO { break }
            let end = start < 0 ? -1 : lseek(descriptor, start, Self.seekHole)
            // If the file system reports no holes, the whole rest is content (lseek(2)).
            guard start >= 0, end > start else { return ranges + [Int(place)..<count] }
            ranges.append(Int(start)..<min(count, Int(end)))
            place = end
        }
        return ranges
    }

    /// nil if the file ends too early, or cannot be read.
    package func bytes(at offset: Int, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return bytes.withUnsafeMutableBytes { read(at: offset, into: $0) } ? bytes : nil
    }
}

extension UnsafeRawBufferPointer {
    /// The big-endian word at an offset, which must lie within.
    package func word(_ offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
