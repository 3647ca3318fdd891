internal import DataProtection
internal import Glibc
internal import KeychainSystem

/// Where what is saved of damaged files goes: under their own names, and a tree keeps its shape below the name of the
/// directory that was named.
struct SalvageDirectory {
    private let directory: String
    /// What the person named.
    private let roots: [String]

    init(_ directory: String, of roots: [String]) {
        self.directory = directory
        // Of two that lead to a file, one within the other, the inner one names it.
        self.roots = roots.sorted { $0.utf8.count > $1.utf8.count }
    }

    /// nil: what was named has a name that is not UTF-8.
    func place(of path: String) -> String? {
        guard let root = roots.first(where: { FilePath.rest(of: path, below: $0) != nil }) else {
            return FilePath.lastName(of: path).map { FilePath.join(directory, $0) }
        }
        return FilePath.lastName(of: root).map { name in
            FilePath.join(FilePath.join(directory, name), FilePath.rest(of: path, below: root) ?? "")
        }
    }

    /// Makes the directories that are missing, for whoever runs this alone.
    static func makeDirectory(above path: String) throws(DataProtectionError) {
        let directory = FilePath.directory(of: path)
        guard directory != "/", directory != "." else { return }
        if mkdir(directory, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw .system("make the directory of", path) }
        try makeDirectory(above: directory)
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw .system("make the directory of", path) }
    }
}
