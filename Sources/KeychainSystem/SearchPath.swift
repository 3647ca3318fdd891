internal import Glibc

/// The directories in which programs are looked for by their names.
///
/// A relative directory in a PATH is passed over: it could be a stranger's, a cloned repository for example.
package struct SearchPath: Sendable {
    package static let usual = "/usr/local/bin:/usr/bin:/bin"

    package let directories: [String]

    /// - Parameter variable: The PATH; nil or empty: the usual one.
    package init(_ variable: String?) {
        let text = variable.flatMap { $0.isEmpty ? nil : $0 } ?? Self.usual
        self.init(directories: text.split(separator: ":").map(String.init))
    }

    package init(directories: [String]) { self.directories = directories.filter(FilePath.isAbsolute) }

    /// The first program of a name; nil: there is none.
    package func program(_ name: String) -> String? {
        directories.lazy.map { FilePath.join($0, name) }.first(where: Self.isProgram)
    }

    /// Whether a path leads to a file that may be run.
    package static func isProgram(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && FilePath.permits(path, X_OK)
    }
}
