internal import Glibc

/// The directory of a file, or of the one that a link leads to; of one that is not there, the one it would be in.
func parentDirectory(of path: String) -> String {
    let real = realpath(path, nil)
    defer { free(real) }
    let path = real.map { String(cString: $0) } ?? path
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
