internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem
package import SealedFiles

/// Directories for copies of files.
extension ProtectedFiles {
    /// Makes sure that there is a directory for files. A new directory is for its owner alone until
    /// ``finishDirectory(_:like:_:)``.
    ///
    /// - Parameter isNamed: Whether a person named the directory. A link to it is followed then.
    /// - Returns: Whether the directory is new.
    package func openDirectory(
        _ path: String, _ use: DirectoryUse, isNamed: Bool = false
    ) throws(DataProtectionError) -> Bool {
        if files.makeDirectory(path) == 0 {
            try FilePath.sync(FilePath.directory(of: path), files: files)
            return true
        }
        guard errno == EEXIST else { throw .system("make", path) }
        var status = stat()
        guard (isNamed ? stat(path, &status) : lstat(path, &status)) == 0 else { throw .system("look at", path) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw DataProtectionError(
                .system, path, "it is there already, and no directory: remove it, or copy elsewhere", errno: EEXIST)
        }
        // A directory that an earlier run has finished may not be writable.
        let mayBeChanged = use == .backup && status.st_uid == geteuid()
        if mayBeChanged, status.st_mode & 0o700 != 0o700, chmod(path, status.st_mode | 0o700) != 0 {
            throw .system("write to", path)
        }
        return false
    }

    /// The purpose of a directory that is made.
    package enum DirectoryUse {
        /// The directory gets everything that the original has.
        case backup
        /// The directory gets only harmless properties of the copy, and only if it is new: a copy's properties are not
        /// authenticated.
        case restore
    }

    /// Gives a directory the extended attributes, the mode and the times of another one, and its owner where the system
    /// allows that. The directory must be filled before.
    package func finishDirectory(
        _ path: String, like source: String, _ use: DirectoryUse
    ) throws(DataProtectionError) {
        let (from, to) = (
            Glibc.open(source, O_RDONLY | O_DIRECTORY | O_CLOEXEC), Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        )
        defer { for descriptor in [from, to] where descriptor >= 0 { close(descriptor) } }
        guard from >= 0 else { throw .system("look at", source) }
        guard to >= 0 else { throw .system("write to", path) }
        var status = stat()
        guard fstat(from, &status) == 0 else { throw .system("look at", source) }
        let attributes = try ExtendedAttributes.all(of: from, source)
        if use == .restore { return try finishRestored(to, path, like: status, attributes) }
        // The access list comes before the mode, which is a part of it. Without the list the mode would let others in.
        if !attributes.contains(where: { $0.name == ExtendedAttributes.accessList }) {
            try ExtendedAttributes.remove(ExtendedAttributes.accessList, of: path)
        }
        try ExtendedAttributes.give(attributes, to: to, path)
        let isGiven = fchown(to, status.st_uid, status.st_gid) == 0
        guard fchmod(to, status.st_mode & (isGiven ? 0o7777 : 0o777)) == 0 else { throw .system("write", path) }
        try FilePath.setTimes(of: status, to, path)
    }

    /// Gives a directory that a restore has made the class that its copy gives, before any file is made in it.
    package func giveClass(_ path: String, like copy: String) throws(DataProtectionError) {
        guard let value = try ExtendedAttributes.value(Self.directoryAttribute, of: copy),
            Self.mayGive(value, try inheritedProtection(path))
        else { return }
        try ExtendedAttributes.set(Self.directoryAttribute, value, of: path)
    }

    private func finishRestored(
        _ directory: Int32, _ path: String, like status: stat, _ attributes: [(name: String, value: Data)]
    ) throws(DataProtectionError) {
        let ofUsers = attributes.filter { $0.name.hasPrefix("user.") && $0.name != Self.directoryAttribute }
        try ExtendedAttributes.give(ofUsers, to: directory, path)
        guard fchmod(directory, status.st_mode & 0o755) == 0 else { throw .system("write", path) }
        try FilePath.setTimes(of: status, directory, path)
    }

    /// Whether a restored directory may give the class that its copy names.
    ///
    /// A class that is weaker than the one of new files without it is refused. So is a text that is no class, which
    /// would keep new files from being made.
    private static func mayGive(_ attribute: Data, _ inherited: FileProtection?) -> Bool {
        guard let protection = FileProtection(rawValue: String(decoding: attribute, as: UTF8.self)),
            protection != .always
        else { return false }
        return inherited.map { protection.fileClass.isStronger(than: $0.fileClass) } ?? true
    }
}
