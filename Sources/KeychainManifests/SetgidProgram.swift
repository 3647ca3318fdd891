internal import FoundationEssentials
package import Glibc
internal import KeychainSystem

/// A file that gives its group to the process that runs it.
package struct SetgidProgram {
    package let path: String
    /// Whether root alone can change it.
    package let isRoots: Bool
    /// Whether its file system lets it give its group.
    package let takesEffect: Bool

    /// The programs in the directories of `PATH`.
    package static func all(of group: gid_t) -> [SetgidProgram] {
        var seen: Set<FileNumber> = []
        return SearchPath(Environment.process.variables["PATH"]).directories.flatMap { directory in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            return names.sorted().compactMap { program(FilePath.join(directory, $0), group, &seen) }
        }
    }

    private static func program(_ path: String, _ group: gid_t, _ seen: inout Set<FileNumber>) -> SetgidProgram? {
        var (status, mount) = (stat(), statvfs())
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_gid == group,
            // Without the group's right to run it, the bit means a kind of lock.
            status.st_mode & (S_ISGID | S_IXGRP) == S_ISGID | S_IXGRP, seen.insert(FileNumber(status)).inserted,
            statvfs(path, &mount) == 0
        else { return nil }
        return SetgidProgram(
            path: path, isRoots: status.st_uid == 0 && status.st_mode & 0o022 == 0,
            takesEffect: mount.f_flag & UInt(ST_NOSUID) == 0)
    }
}
