internal import Foundation
internal import Glibc
internal import KeychainModel

/// Directories of ours belong to their user and nobody else.
enum PrivateDirectory {
    /// Makes the directory and its missing parents, for the owner alone.
    static func create(_ url: URL) throws(KeychainError) {
        if mkdir(url.path, 0o700) == 0 || errno == EEXIST { return try check(url) }
        guard errno == ENOENT, url.path != "/" else { throw AtomicFile.fileError("create", url, errno) }
        try createParents(of: url)
        guard mkdir(url.path, 0o700) == 0 || errno == EEXIST else {
            throw AtomicFile.fileError("create", url, errno)
        }
        try check(url)
    }

    /// - Throws: `.notAvailable` if it is no directory, another user's, or open to writing by others.
    static func check(_ url: URL) throws(KeychainError) {
        var information = stat()
        guard stat(url.path, &information) == 0 else { throw AtomicFile.fileError("open", url, errno) }
        guard information.st_mode & S_IFMT == S_IFDIR else {
            throw refused(url, "it is not a directory")
        }
        guard information.st_uid == geteuid() else {
            throw refused(url, "it belongs to user \(information.st_uid), and this program runs as \(geteuid())")
        }
        guard information.st_mode & 0o022 == 0 else {
            throw refused(url, "other users may write to it. Run: chmod 700 '\(url.path)'")
        }
    }

    private static func createParents(of url: URL) throws(KeychainError) {
        let parent = url.deletingLastPathComponent()
        if mkdir(parent.path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, parent.path != "/" else { throw AtomicFile.fileError("create", parent, errno) }
        try createParents(of: parent)
        guard mkdir(parent.path, 0o700) == 0 || errno == EEXIST else {
            throw AtomicFile.fileError("create", parent, errno)
        }
    }

    private static func refused(_ url: URL, _ reason: String) -> KeychainError {
        KeychainError(.notAvailable, message: "the directory \(url.path) is refused: \(reason)")
    }
}
