package import FoundationEssentials
internal import Glibc
package import KeychainCrypto
package import KeychainModel
internal import KeychainSystem

/// An export that lies in a file, and is read more than once.
package final class ImportInput {
    package let byteCount: Int
    /// The first bytes of the file. A short file has fewer.
    package let header: Data
    private let path: String
    private let descriptor: OpenDescriptor
    /// The place up to which the file was read.
    package private(set) var position = 0

    /// - Throws: `.inputOutput` if the file cannot be read, `.parameter` if it cannot be read twice.
    package init(path: String) throws(KeychainError) {
        self.path = path
        // Otherwise the opening of a pipe without a writer would wait.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw KeychainError(file: path, "read", errno) }
        descriptor = OpenDescriptor(number)
        var information = stat()
        guard fstat(number, &information) == 0 else { throw KeychainError(file: path, "read", errno) }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw KeychainError(
                .parameter,
                message:
                    "\(path) is no ordinary file: an export is read twice, since nothing is imported before all of "
                    + "it was found whole. Save it to a file first")
        }
        byteCount = Int(information.st_size)
        var header = Data(count: min(byteCount, ExportKey.headerByteCount))
        let failure = header.withUnsafeMutableBytes { Self.fill($0, from: number, at: 0) }
        if let failure { throw Self.failure(failure, path) }
        self.header = header
    }

    /// The entries, from the first one on.
    package func reader(_ key: ExportKey) throws(KeychainError) -> ExportReader {
        position = header.count
        return try ExportReader(key, byteCount: byteCount - position) { target throws(KeychainError) in
            if let failure = Self.fill(target, from: self.descriptor.number, at: self.position) {
                throw Self.failure(failure, self.path)
            }
            self.position += target.count
        }
    }

    /// Reads the file to its end, before anything is done with it.
    ///
    /// - Parameter show: Is told now and then how many bytes were read.
    /// - Returns: the summary, and the number of entries that no keychain exports.
    package func checked(
        _ key: ExportKey, _ show: (_ done: Int) -> Void
    ) throws(KeychainError) -> (summary: ExportSummary, refused: Int) {
        let reader = try reader(key)
        var (refused, shown) = (0, 0)
        while let record = try reader.next() {
            switch record {
            case .item(let item): if item.flaw != nil { refused += 1 }
            case .unreadable: refused += 1
            case .end(let summary): return (summary, refused)
            }
            if position - shown > 4 << 20 {
                shown = position
                show(position)
            }
        }
        throw .damagedExport("its end is missing")
    }

    /// - Returns: 0 if the file is shorter than it was, another errno value, or nil if all is well.
    private static func fill(_ target: UnsafeMutableRawBufferPointer, from file: Int32, at place: Int) -> Int32? {
        var filled = 0
        while filled < target.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: target[filled...])
            let count = pread(file, rest.baseAddress, rest.count, off_t(place + filled))
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return count < 0 ? errno : 0 }
            filled += count
        }
        return nil
    }

    private static func failure(_ failure: Int32, _ path: String) -> KeychainError {
        if failure != 0 { return KeychainError(file: path, "read", failure) }
        return KeychainError(.inputOutput, message: "\(path) became shorter while it was read")
    }
}
