package import Glibc

/// Paths of files, as the bytes that they are to the system.
///
/// Swift compares and searches text by its looks: a slash before a combining mark is no slash to it, and two names of
/// different bytes can be equal.
package enum FilePath {
    private static let slash = UInt8(ascii: "/")

    package static func isAbsolute(_ path: String) -> Bool { path.utf8.first == slash }

    /// Whether the path can only mean a directory.
    package static func endsInSlash(_ path: String) -> Bool { path.utf8.last == slash }

    /// Asks access(2) for the rights of this process. The call itself asks for the rights of the user who runs the
    /// process, which are other ones in a set-user-ID program. The reason is in `errno`.
    package static func permits(_ path: String, _ mode: CInt) -> Bool {
        faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0
    }

    /// Whether there is a file, and not a link that leads nowhere.
    package static func exists(_ path: String) -> Bool { permits(path, F_OK) }

    package static func isSame(_ path: String, _ other: String) -> Bool { path.utf8.elementsEqual(other.utf8) }

    package static func directory(of path: String) -> String {
        guard let end = path.utf8.lastIndex(of: slash) else { return "." }
        return end == path.startIndex ? "/" : String(decoding: path.utf8[..<end], as: UTF8.self)
    }

    /// The part behind the last slash.
    package static func name(of path: String) -> String {
        guard let end = path.utf8.lastIndex(of: slash) else { return path }
        return String(decoding: path.utf8[end...].dropFirst(), as: UTF8.self)
    }

    /// The path without slashes behind its last name.
    package static func withoutSlashAtEnd(_ path: String) -> String {
        let kept = path.utf8.reversed().drop { $0 == slash }.count
        return kept == 0 ? (path.isEmpty ? "" : "/") : String(decoding: path.utf8.prefix(kept), as: UTF8.self)
    }

    package static func join(_ directory: String, _ name: String) -> String {
        name.isEmpty ? directory : directory + (endsInSlash(directory) ? "" : "/") + name
    }

    /// The part of a path behind a directory; empty: it is that directory; nil: it is not below it.
    package static func rest(of path: String, below directory: String) -> String? {
        guard path.utf8.starts(with: directory.utf8) else { return nil }
        let rest = path.utf8.dropFirst(directory.utf8.count)
        guard rest.isEmpty || rest.first == slash || endsInSlash(directory) else { return nil }
        return String(decoding: rest.drop { $0 == slash }, as: UTF8.self)
    }

    /// The name that a path ends with, without slashes behind it. The name of `.` is its directory's; the root's is
    /// empty. nil: it is not UTF-8.
    package static func lastName(of path: String) -> String? {
        let last = name(of: withoutSlashAtEnd(path))
        guard ["", ".", ".."].contains(last) else { return last }
        guard let real = realpath(path, nil) else { return "" }
        defer { free(real) }
        return String(validatingCString: real).map { name(of: $0) }
    }

    /// The file that a path leads to in the end: what replaces a file must not replace a link to it. The file itself
    /// need not exist.
    ///
    /// - Throws: EILSEQ if a link leads to a name that is not UTF-8, ELOOP.
    package static func followingLinks(_ path: String) throws(SystemError) -> String {
        var present = path
        // The kernel follows as many links (path_resolution(7)).
        for _ in 0..<40 {
            var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
            let count = readlink(present, &target, Int(PATH_MAX))
            // EINVAL: no link. Any other failure comes again in the next step, which reports it.
            guard count >= 0 else { return present }
            guard let name = String(validating: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            else { throw SystemError("follow the link \(path)", EILSEQ) }
            present = isAbsolute(name) ? name : directory(of: present) + "/" + name
        }
        throw SystemError("follow the link \(path)", ELOOP)
    }
}

/// A path to look up by: two of them are equal if their bytes are.
package struct PathKey: Hashable, Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    package static func == (one: PathKey, other: PathKey) -> Bool { FilePath.isSame(one.path, other.path) }
    package func hash(into hasher: inout Hasher) { for byte in path.utf8 { hasher.combine(byte) } }
}

/// The identity of a file, by every path that leads to it.
package struct FileNumber: Hashable, Sendable {
    package let device: dev_t
    package let number: ino_t

    package init(_ status: stat) { self.init(device: status.st_dev, number: status.st_ino) }

    package init(device: dev_t, number: ino_t) { (self.device, self.number) = (device, number) }

    /// nil: nothing is there. A link is followed.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
