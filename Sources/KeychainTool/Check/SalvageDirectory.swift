internal import DataProtection
internal import Glibc
internal import KeychainSystem

/// The directory for the saved content of damaged files. A file keeps its own name, and a tree keeps its name and
/// shape.
struct SalvageDirectory {
    private let directory: String
    /// The paths that the person named.
    private let roots: [String]

    init(_ directory: String, of roots: [String]) {
        self.directory = directory
        // If one root lies in another one, the inner one counts for the files in it.
        self.roots = roots.sorted { $0.utf8.count > $1.utf8.count }
    }

    /// nil: the last name of the root, or of the path, is not UTF-8.
    func place(of path: String) -> String? {
        guard let root = roots.first(where: { FilePath.rest(of: path, below: $0) != nil }) else {
            return FilePath.lastName(of: path).map { FilePath.join(directory, $0) }
        }
        return FilePath.lastName(of: root).map { name in
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
