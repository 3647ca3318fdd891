package import FoundationEssentials
internal import Glibc
package import KeychainModel

/// A small file that is there whole or not at all. Every write of ours outside the database that has to last goes
/// through here.
package struct AtomicFile: Sendable {
    private let url: URL
    private let temporary: String
    /// A file that is replaced, open, whose properties the new one gets. nil: it is ours, and its owner's alone.
    private let model: Int32?
    private let files: any FileSystem

    /// A file whose writers take turns under a lock. A file left by a writer that was killed is removed by the next
    /// writer.
    ///
    /// - Parameters:
    ///   - temporaryName: The name of the unfinished file beside it. nil: the name of the file and `.new`, in a
    ///     directory of ours.
    ///   - model: For a file that is not ours: that file, open. The new one gets its group, mode, access list and attributes.
    package init(locked url: URL, temporaryName: String? = nil, model: Int32? = nil, _ files: any FileSystem) {
        self.url = url
        self.files = files
        temporary =
            temporaryName.map { url.deletingLastPathComponent().path + "/" + $0 } ?? url.path + ".new"
        self.model = model
    }

    /// A file that several processes may write at once, each by a name of its own, which begins with
    /// ``unlockedPrefix(_:)``.
    package init(unlocked url: URL, _ files: any FileSystem) {
        model = nil
        self.url = url
        self.files = files
        temporary = url.deletingLastPathComponent().path + "/" + Self.unlockedPrefix(url) + UUID().uuidString
    }

    package static func unlockedPrefix(_ url: URL) -> String { url.lastPathComponent + ".new-" }

    /// Replaces the file: write beside it, fsync, rename, fsync of the directory.
    package func replace(with bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        try write(bytes) { () throws(KeychainError) in
            try check(files.rename(temporary, to: url.path), "replace")
        }
    }

    /// Creates the file, which must not exist yet.
    ///
    /// - Returns: false, with nothing changed, if another process was first.
    package func create(with bytes: UnsafeRawBufferPointer) throws(KeychainError) -> Bool {
        var isNew = true
        try write(bytes) { () throws(KeychainError) in
            // Unlike a rename, a link never takes the place of a file.
            isNew = files.link(temporary, to: url.path) == 0
            let failure = isNew ? 0 : errno
            // The first writer removes the temporary files of the others.
            let isLate = failure == EEXIST || (failure == ENOENT && FilePath.exists(url.path))
            if !isNew && !isLate { throw KeychainError(file: "create", url, failure) }
            removeLeftover()
        }
        return isNew
    }

    /// Removes the file of a killed writer. If that fails, it is left once more: the next write needs the name, and
    /// says so.
    package func removeLeftover() { _ = files.remove(temporary) }

    private func write(
        _ bytes: UnsafeRawBufferPointer, then publish: () throws(KeychainError) -> Void
    ) throws(KeychainError) {
        // Not emptied and written again: it may have been linked to its name already, and be the file itself.
        removeLeftover()
        let file = files.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
        try check(file, "create")
        do throws(KeychainError) {
            do throws(KeychainError) {
                if let model { try FileProperties(of: model, url).give(to: file, url) }
                try writeAll(bytes, to: file)
                try check(files.sync(file), "write")
            } catch {
                close(file)
                throw error
            }
            try check(close(file), "write")
            try publish()
        } catch {
            removeLeftover()
            throw error
        }
        try Self.syncDirectory(of: url, files)
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(KeychainError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = files.write(UnsafeRawBufferPointer(rebasing: rest), to: file)
            if written < 0 && errno == EINTR { continue }
            try check(Int32(clamping: written), "write")
            rest = rest.dropFirst(written)
        }
    }

    /// Makes a name durable that a directory was given.
    package static func syncDirectory(of url: URL, _ files: any FileSystem) throws(KeychainError) {
        let directory = url.deletingLastPathComponent()
        let file = open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw KeychainError(file: "open", directory, errno) }
        defer { close(file) }
        guard files.syncNames(file) == 0 else { throw KeychainError(file: "write", directory, errno) }
    }

    private func check(_ result: Int32, _ verb: String) throws(KeychainError) {
        if result < 0 { throw KeychainError(file: verb, url, errno) }
    }
}
