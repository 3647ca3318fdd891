internal import Glibc
internal import KeychainSystem

/// Directories for copies of files.
extension ProtectedFiles {
    /// Makes sure that there is a directory which files can be made in: a new one belongs to its owner alone until
    /// ``finishDirectory(_:like:)``.
    package func openDirectory(_ path: String) throws(DataProtectionError) {
        if files.makeDirectory(path) == 0 { return try syncDirectory(FilePath.directory(of: path)) }
        guard errno == EEXIST else { throw .system("make", path) }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw .system("look at", path) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw DataProtectionError(
                .system, path, "it is there already, and no directory: remove it, or copy elsewhere", errno: EEXIST)
        }
        // One that an earlier run has finished may not be writable.
        if status.st_uid == geteuid(), status.st_mode & 0o700 != 0o700, chmod(path, status.st_mode | 0o700) != 0 {
            throw .system("write to", path)
        }
    }

    /// Gives a directory the extended attributes, the mode and the times of another one, and its owner where that is
    /// allowed. When all is in it.
    package func finishDirectory(_ path: String, like source: String) throws(DataProtectionError) {
        let (from, to) = (
            Glibc.open(source, O_RDONLY | O_DIRECTORY | O_CLOEXEC), Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        )
        defer { for descriptor in [from, to] where descriptor >= 0 { close(descriptor) } }
        guard from >= 0 else { throw .system("look at", source) }
        guard to >= 0 else { throw .system("write to", path) }
        var status = stat()
        guard fstat(from, &status) == 0 else { throw .system("look at", source) }
        let attributes = try ExtendedAttributes.all(of: from, source)
        // The access list before the mode, which is a part of it: without the list the mode lets in others.
        if !attributes.contains(where: { $0.name == ExtendedAttributes.accessList }) {
            try ExtendedAttributes.remove(ExtendedAttributes.accessList, of: path)
        }
        for (name, value) in attributes {
            let isNeeded = name == ExtendedAttributes.accessList || name.hasPrefix("user.")
            guard ExtendedAttributes.set(name, value, of: to) || !isNeeded else {
                throw .system("write the attributes of", path)
            }
        }
        let isGiven = fchown(to, status.st_uid, status.st_gid) == 0
        guard fchmod(to, status.st_mode & (isGiven ? 0o7777 : 0o777)) == 0 else { throw .system("write", path) }
        guard futimens(to, [status.st_atim, status.st_mtim]) == 0 else { throw .system("write the times of", path) }
    }

    private func syncDirectory(_ path: String) throws(DataProtectionError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 && errno == EACCES { return }
        guard descriptor >= 0 else { throw .system("open", path) }
        defer { close(descriptor) }
        guard files.sync(descriptor) == 0 || errno == EINVAL else { throw .system("write to", path) }
    }
}
