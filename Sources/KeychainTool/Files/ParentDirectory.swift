internal import KeychainSystem

/// The directory in which a file is, or would be. A link leads to the file that counts.
func parentDirectory(of path: String) -> String {
    let path = FilePath.withoutSlashAtEnd(path)
    // An attempt to open the file tells why a link cannot be followed.
    return FilePath.directory(of: (try? FilePath.followingLinks(path)) ?? path)
}
