internal import Foundation
internal import Glibc

/// Paths of files, as strings that the system is given.
enum FilePath {
    /// How many bytes an open file has.
    static func size(of file: Int32, _ path: String) throws(DataProtectionError) -> UInt64 {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .system("read", path) }
        return UInt64(max(0, status.st_size))
    }

    /// - Throws: `.unsupportedFile` for a URL that names no file.
    static func of(_ url: URL) throws(DataProtectionError) -> String {
        guard url.isFileURL else {
            throw DataProtectionError(.unsupportedFile, url.absoluteString, "the URL is not that of a file")
        }
        let path = url.withUnsafeFileSystemRepresentation { $0.map { String(cString: $0) } } ?? ""
        guard !path.isEmpty else { throw .system("open", url.absoluteString, errno: ENOENT) }
        return path
    }

    /// The file that a path leads to in the end: what replaces a file must not replace a link to it. The file itself
    /// need not exist.
    static func followingLinks(_ path: String) throws(DataProtectionError) -> String {
        var present = path
        // As often as the kernel follows (path_resolution(7)).
        for _ in 0..<40 {
            var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
            let count = readlink(present, &target, Int(PATH_MAX))
            // EINVAL: no link. Anything else is met again, and told, by what is done next.
            guard count >= 0 else { return present }
            guard let name = String(validating: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            else {
                throw DataProtectionError(.unsupportedFile, path, "it is a link to a name that is not UTF-8")
            }
            present = name.hasPrefix("/") ? name : directory(of: present) + "/" + name
        }
        throw .system("open", path, errno: ELOOP)
    }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}
