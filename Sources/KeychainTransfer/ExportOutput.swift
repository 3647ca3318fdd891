internal import FoundationEssentials
internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// The place for an export: standard output, or a file that is written whole or not at all.
///
/// Until ``publish()`` the file has another name, `FILE.part-…` beside it.
package final class ExportOutput {
    private struct Place {
        var path: String
        var part: String
        var replaces: Bool
    }

    private let descriptor: Int32
    /// The directory, open so that the file's name can be forced to the disk; -1: this user may not read it.
    private let directory: Int32
    /// nil: standard output.
    private let place: Place?
    private var isOpen = true

    /// An export to standard output.
    package init() {
        descriptor = STDOUT_FILENO
        directory = -1
        place = nil
    }

    /// - Throws: `.duplicateItem` if the path is taken and may not be replaced, `.inputOutput` or `.diskFull` if no
    ///   file can be made beside it.
    package init(path: String, replaces: Bool) throws(KeychainError) {
        try Self.requireFree(path, replaces: replaces)
        let parent = FilePath.directory(of: path)
        // A name has at most 255 bytes.
        let name = String(decoding: FilePath.name(of: path).utf8.prefix(200), as: UTF8.self)
        let suffix = ".part-\(UUID().uuidString.prefix(8).lowercased())"
        let part = FilePath.join(parent, name + suffix)
        descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw KeychainError(file: path, "create", errno) }
        directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        place = Place(path: path, part: part, replaces: replaces)
    }

    /// Writes a whole file, or to standard output.
    ///
    /// - Parameter path: nil: standard output.
    package static func write<Result>(
        to path: String?, replaces: Bool, _ body: (ExportOutput) throws -> Result
    ) throws -> Result {
        let output = try path.map { path throws(KeychainError) in try ExportOutput(path: path, replaces: replaces) }
        let target = output ?? ExportOutput()
        do {
            let result = try body(target)
            try target.publish()
            return result
        } catch {
            target.discard()
            throw error
        }
    }

    /// Only an ordinary file is replaced, and only if the person wants that.
    package static func requireFree(_ path: String, replaces: Bool) throws(KeychainError) {
        var information = stat()
        guard lstat(path, &information) == 0 else { return }
        guard replaces else { throw exists(path) }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw KeychainError(.duplicateItem, message: "\(path) is no ordinary file, so it is not replaced")
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        errno = bytes.write(to: descriptor)
        guard errno == 0 else { throw failure("write") }
    }

    /// Forces the file to the disk, and gives it its name.
    ///
    /// - Throws: `.duplicateItem` if a file of that name has come meanwhile, `.inputOutput` or `.diskFull`.
    package func publish() throws(KeychainError) {
        guard let place else { return }
        guard fsync(descriptor) == 0 else { throw failure("write") }
        isOpen = false
        guard close(descriptor) == 0 else { throw failure("write") }
        if place.replaces {
            guard rename(place.part, place.path) == 0 else { throw failure("replace") }
        } else {
            // Unlike a rename, this never replaces a file.
            let failure = ckeychain_rename_to_free_name(place.part, place.path)
            if failure == EEXIST { throw Self.exists(place.path) }
            guard failure == 0 else { throw KeychainError(file: place.path, "create", failure) }
        }
        // The file has its name. If the directory cannot be synced, only a power cut could still take the name away.
        if directory >= 0 { fsync(directory) }
    }

    deinit { if directory >= 0 { close(directory) } }

    /// Removes the unfinished file. Call it after a failure.
    package func discard() {
        guard let place else { return }
        if isOpen { close(descriptor) }
        isOpen = false
        unlink(place.part)
    }

    private func failure(_ verb: String) -> KeychainError {
        KeychainError(file: place?.path ?? "standard output", verb, errno)
    }

    private static func exists(_ path: String) -> KeychainError {
        KeychainError(
            .duplicateItem, message: "\(path) is there already; name another file, or replace it with --force")
    }
}
