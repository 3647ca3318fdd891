internal import Glibc
internal import KeychainSystem

/// The place of an open file, and whether others may have written the file. The kernel tells the place of the
/// descriptor, so a path that leads elsewhere meanwhile changes nothing.
struct FilePlace {
    /// The absolute path without links. nil: the file has no path, or one that cannot be written down.
    let path: String?
    /// The end of a sentence that begins with the file. nil: the file is the person's own.
    let objection: String?

    init(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            (path, objection) = (nil, "cannot be looked at")
            return
        }
        let place = Self.path(of: descriptor)
        // A terminal, a pipe and a file without a name have input of the person's own programs.
        let isTyped = status.st_mode & S_IFMT == S_IFCHR
        let isPipe = status.st_mode & S_IFMT == S_IFIFO && place?.hasPrefix("/") == false
        let isDeleted = status.st_nlink == 0 && place?.hasSuffix(" (deleted)") == true
        if isTyped || isPipe || isDeleted {
            (path, objection) = (nil, nil)
            return
        }
        path = place.flatMap { $0.hasPrefix("/") ? $0 : nil }
        objection = Self.objection(to: status) ?? Self.objection(toPlace: path)
    }

    /// nil: the path has more bytes than a path may have, or is not UTF-8 text.
    private static func path(of descriptor: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = bytes.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                readlink("/proc/self/fd/\(descriptor)", $0.baseAddress!, $0.count)  // never empty
            }
        }
        guard count > 0, count < bytes.count else { return nil }
        return String(validating: bytes.prefix(count), as: UTF8.self)
    }

    // MARK: Whose it is

    private static func objection(to status: stat) -> String? {
        if status.st_uid != geteuid() { return "belongs to another user" }
        return status.st_mode & 0o022 != 0 ? "may be written to by other users, which 'chmod go-w' ends" : nil
    }

    private static let hidden = "lies in a directory that cannot be looked at"

    private static func objection(toPlace path: String?) -> String? {
        path.map { repositoryObjection(FilePath.directory(of: $0)) } ?? hidden
    }

    /// - Parameter directory: As a person names it, with links in it. A link in it to a file elsewhere counts as in it.
    static func objection(toDirectory directory: String) -> String? {
        guard let real = try? ReferenceFile.withoutLinks(directory) else { return hidden }
        return repositoryObjection(real)
    }

    /// The directories by which git, Mercurial, Jujutsu and Subversion know their work trees.
    private static let repositories = [".git", ".hg", ".jj", ".svn"]

    private static func repositoryObjection(_ directory: String) -> String? {
        var directory = directory
        while true {
            for name in repositories {
                var status = stat()
                if lstat(FilePath.join(directory, name), &status) == 0 { return "is in a repository" }
                if errno != ENOENT && errno != ENOTDIR { return hidden }
            }
            if directory == "/" { return nil }
            directory = FilePath.directory(of: directory)
        }
    }
}
