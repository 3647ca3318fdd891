internal import DataProtectionCore
internal import Glibc
internal import KeychainSystem

/// The directory for the saved content of damaged files. A file keeps its own name, and a tree keeps its name and
/// shape.
struct SalvageDirectory {
    let directory: String

    /// - Parameter root: The path that the person named.
    /// - Returns: nil if the last name of the root is not UTF-8.
    func place(of path: String, below root: String) -> String? {
        FilePath.lastName(of: root).map { name in
            FilePath.join(FilePath.join(directory, name), FilePath.rest(of: path, below: root) ?? "")
        }
    }

    /// Makes the directories that are missing, for this user alone.
    static func makeDirectory(above path: String) throws(DataProtectionError) {
        let directory = FilePath.directory(of: path)
        guard directory != "/", directory != "." else { return }
        if mkdir(directory, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw .system("make the directory of", path) }
        try makeDirectory(above: directory)
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw .system("make the directory of", path) }
    }
}
