package import FoundationEssentials
internal import Glibc
package import KeychainModel

/// Directories of ours, which belong to their user alone.
package enum PrivateDirectory {
    /// Makes the directory and its missing parents, for the owner alone.
    ///
    /// - Parameter inOthersHomes: Whether root may make them in the home of another account.
    /// - Throws: `.notAvailable`, with nothing made, if root may not.
    package static func create(
        _ url: URL, _ files: any FileSystem, inOthersHomes: Bool
    ) throws(KeychainError) {
        if !inOthersHomes { try requireOwnHome(url) }
        try make(url, files)
        try check(url)
    }

    /// - Throws: `.notAvailable` if root would make the directory, and the home of another account is around it.
    package static func requireOwnHome(_ url: URL) throws(KeychainError) {
        if !FilePath.exists(url.path), let home = ForeignDirectory.home(around: url) { throw home.refusalToMakeTarget }
    }

    private static func make(_ url: URL, _ files: any FileSystem) throws(KeychainError) {
        if files.makeDirectory(url.path) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, url.path != "/" else {
            let failure = errno
            var status = stat()
            // A process that may not look cannot tell whether it is there.
            let isHidden = lstat(url.path, &status) != 0 && errno == EACCES
            if isHidden, let foreign = ForeignDirectory.onTheWay(to: url) { throw foreign.error }
            throw KeychainError(file: isHidden ? "open" : "create", url, failure)
        }
        try make(url.deletingLastPathComponent(), files)
        guard files.makeDirectory(url.path) == 0 || errno == EEXIST else {
            throw KeychainError(file: "create", url, errno)
        }
    }

    /// Forces to the disk that the directory is there, since its maker was perhaps killed before that: every parent in
    /// which this user could have made something. A directory that may not be read cannot be forced.
    package static func makeDurable(_ url: URL, _ files: any FileSystem) throws(KeychainError) {
        var directory = url.standardizedFileURL
        while directory.path != "/", FilePath.permits(directory.deletingLastPathComponent().path, R_OK | W_OK) {
            try AtomicFile.syncDirectory(of: directory, files)
            directory.deleteLastPathComponent()
        }
    }

    /// - Throws: `.notAvailable` if it is no directory, another user's, or open to writing by others.
    package static func check(_ url: URL) throws(KeychainError) {
        var information = stat()
        guard stat(url.path, &information) == 0 else {
            let failure = errno
            if failure == EACCES, let foreign = ForeignDirectory.onTheWay(to: url) { throw foreign.error }
            throw KeychainError(file: "open", url, failure)
        }
        guard information.st_mode & S_IFMT == S_IFDIR else {
            throw refused(url, "it is not a directory")
        }
        guard information.st_uid == geteuid() else {
            throw ForeignDirectory.onTheWay(to: url)?.error ?? refused(url, "it belongs to user \(information.st_uid)")
        }
        guard information.st_mode & 0o022 == 0 else {
            throw refused(url, "other users may write to it. Run: chmod 700 '\(url.path)'")
        }
    }

    private static func refused(_ url: URL, _ reason: String) -> KeychainError {
        KeychainError(.notAvailable, message: "the directory \(url.path) is refused: \(reason)")
    }
}
