internal import FoundationEssentials
internal import Glibc
internal import KeychainSystem
internal import SealedFiles

extension FilePath {
    /// The path that a URL names.
    ///
    /// - Throws: `.unsupportedFile` for a URL that names no file.
    static func of(_ url: URL) throws(DataProtectionError) -> String {
        guard url.isFileURL else {
            throw DataProtectionError(.unsupportedFile, url.absoluteString, "the URL is not that of a file")
        }
        // The system would take the name as ending at the NUL.
        guard !url.absoluteString.contains("%00") else { throw .system("open", url.absoluteString, errno: EINVAL) }
        let path = url.withUnsafeFileSystemRepresentation { $0.map { String(cString: $0) } } ?? ""
        guard !path.isEmpty else { throw .system("open", url.absoluteString, errno: ENOENT) }
        return path
    }

    /// The path of the file that a path leads to after all links. The file need not exist.
    static func target(of path: String) throws(DataProtectionError) -> String {
        do throws(SystemError) {
            return try followingLinks(path)
        } catch {
            guard error.number == EILSEQ else { throw .system("open", path, errno: error.number) }
            throw DataProtectionError(.unsupportedFile, path, "it is a link to a name that is not UTF-8")
        }
    }

    /// Gives an open file or directory the times of another one.
    static func setTimes(of status: stat, _ file: Int32, _ path: String) throws(DataProtectionError) {
        guard futimens(file, [status.st_atim, status.st_mtim]) == 0 else { throw .system("write the times of", path) }
    }

    /// Makes sure that the names in a directory are on the disk.
    static func sync(_ directory: String, files: any FileSystem) throws(DataProtectionError) {
        let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A directory that may be written and not read cannot be forced to the disk.
        if descriptor < 0 && errno == EACCES { return }
        guard descriptor >= 0 else { throw .system("open", directory) }
        defer { Glibc.close(descriptor) }
        guard files.syncNames(descriptor) == 0 else {
            throw .system("be sure that the disk has the names in", directory)
        }
    }
}
