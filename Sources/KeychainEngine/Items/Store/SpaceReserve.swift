internal import FoundationEssentials
internal import Glibc
internal import KeychainSystem

/// A file of zeros that keeps space for the day when the disk is full: deleting an item writes to the log first, which
/// needs space.
///
/// The reserve is a courtesy. If there is no space for the file, or its name is taken, the store works without it.
/// Another program may take the freed space first.
struct SpaceReserve: Sendable {
    private let path: String
    private let byteCount: Int
    private let files: any FileSystem

    init(beside database: URL, _ configuration: EngineConfiguration) {
        path = database.deletingLastPathComponent().appendingPathComponent("reserve").path
        byteCount = configuration.bytesReserved
        files = configuration.files
    }

    /// Makes the file, if it is not there.
    func keep() {
        var information = stat()
        if lstat(path, &information) == 0 {
            if information.st_mode & S_IFMT == S_IFREG && information.st_size == byteCount { return }
            guard files.remove(path) == 0 else { return }
        }
        let file = files.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        // The file is smaller if space is short. A later call makes it anew.
        let written = [UInt8](repeating: 0, count: byteCount).withUnsafeBytes { files.write($0, to: file) }
        if written <= 0 { _ = files.remove(path) }
    }

    /// Runs `body` with the file's space free, and then makes the file again.
    func spend<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        _ = files.remove(path)
        defer { keep() }
        return try body()
    }
}
