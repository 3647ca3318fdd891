package import FoundationEssentials
package import Glibc
package import KeychainModel

/// Opens files of ours, in whose place a stranger may have put something else.
///
/// A link would lead to another file, and a pipe or a device make its reader wait. So only a regular file of this user is
/// opened, under its own name.
package enum OwnFile {
    /// Any of them, as for a key that systemd hands over.
    package enum Owner {
        case anybody
        case thisUser
    }

    /// - Parameter flags: The flags of open(2).
    /// - Returns: the descriptor; nil if there is no such file and the flags do not make one.
    /// - Throws: `.notAvailable`, if it cannot be opened or something else is in its place; `.diskFull`.
    package static func open(
        _ url: URL, _ flags: Int32, of owner: Owner = .thisUser, through files: any FileSystem = SystemFiles()
    ) throws(KeychainError) -> Int32? {
        let file = files.open(url.path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else {
            let failure = errno
            if failure == ENOENT && flags & O_CREAT == 0 { return nil }
            // The errors of open(2) mislead: for a link they say that there are too many, for a pipe or a socket that
            // there is no device.
            try requireRegular(url)
            if failure == EACCES, let foreign = ForeignDirectory.onTheWay(to: url.deletingLastPathComponent()) {
                throw foreign.error
            }
            throw KeychainError(file: "open", url, failure)
        }
        var information = stat()
        let flaw = fstat(file, &information) == 0 ? flaw(of: information, owner) : String(cString: strerror(errno))
        guard let flaw else { return file }
        close(file)
        let directory = url.deletingLastPathComponent()
        if information.st_uid != geteuid(), let foreign = ForeignDirectory.onTheWay(to: directory) {
            throw foreign.error
        }
        throw refused(url, flaw)
    }

    /// The content of a small file.
    ///
    /// - Parameter most: As ``OpenDescriptor/content(of:most:)`` takes it.
    /// - Returns: nil if there is no such file.
    package static func content(
        of url: URL, most: Int, of owner: Owner = .thisUser
    ) throws(KeychainError) -> [UInt8]? {
        guard let file = try open(url, O_RDONLY, of: owner) else { return nil }
        defer { close(file) }
        guard let content = OpenDescriptor.content(of: file, most: most) else {
            throw KeychainError(file: "read", url, errno)
        }
        return content
    }

    /// Opens a file, which is made for its owner alone if it is not there.
    package static func make(
        _ url: URL, _ flags: Int32 = O_RDWR, through files: any FileSystem = SystemFiles()
    ) throws(KeychainError) -> Int32 {
        guard let file = try open(url, flags | O_CREAT, through: files) else {
            throw KeychainError(file: "make", url, ENOENT)
        }
        return file
    }

    /// Checks a file that SQLite opens by itself, by a name that it makes.
    ///
    /// - Throws: `.notAvailable` if there is something of the name that is no regular file.
    package static func requireRegular(_ url: URL) throws(KeychainError) {
        var information = stat()
        guard lstat(url.path, &information) == 0, let flaw = flaw(of: information, .anybody) else { return }
        throw refused(url, flaw)
    }

    /// The word for a thing that is no regular file; nil: it is one.
    package static func flaw(ofType mode: mode_t) -> String? {
        switch mode & S_IFMT {
        case S_IFREG: nil
        case S_IFLNK: "is a link"
        case S_IFDIR: "is a directory"
        case S_IFIFO: "is a pipe"
        case S_IFSOCK: "is a socket"
        default: "is a device"
        }
    }

    private static func flaw(of information: stat, _ owner: Owner) -> String? {
        if let flaw = flaw(ofType: information.st_mode) { return flaw }
        guard owner == .thisUser, information.st_uid != geteuid() else { return nil }
        return "belongs to user \(information.st_uid), and this program runs as \(geteuid())"
    }

    private static func refused(_ url: URL, _ flaw: String) -> KeychainError {
        KeychainError(
            .notAvailable,
            message: "\(url.path) cannot be used: it \(flaw), where a file of the keychain is to be. Move it away")
    }
}
