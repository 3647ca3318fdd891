internal import KeychainSystem

/// The directory of a file, or of the one that a link leads to; of one that is not there, the one it would be in.
func parentDirectory(of path: String) -> String {
    let path = FilePath.withoutSlashAtEnd(path)
    // Why a link cannot be followed is told by what opens it.
    return FilePath.directory(of: (try? FilePath.followingLinks(path)) ?? path)
}
