internal import DataProtection
internal import Glibc

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

    func place(of path: String) -> String {
        guard let root = roots.first(where: { path == $0 || path.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/") })
        else { return directory + "/" + Self.name(of: path) }
        let below = path.utf8.dropFirst(root.utf8.count).drop { $0 == UInt8(ascii: "/") }
        let parts = [directory, Self.name(of: root), String(Substring(below))]
        return parts.filter { !$0.isEmpty }.joined(separator: "/")
    }

    /// The last component; of ".", ".." and the like that of what they mean.
    private static func name(of path: String) -> String {
        let last = path.split(separator: "/").last.map(String.init)
        if let last, last != ".", last != ".." { return last }
        let real = realpath(path, nil)
        defer { free(real) }
        return real.flatMap { String(cString: $0).split(separator: "/").last.map(String.init) } ?? ""
    }

    /// Makes the directories that are missing, for whoever runs this alone.
    static func makeDirectory(above path: String) throws(DataProtectionError) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return }
        let directory = String(path[..<slash])
        if mkdir(directory, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw .system("make the directory of", path) }
        try makeDirectory(above: directory)
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw .system("make the directory of", path) }
    }
}
