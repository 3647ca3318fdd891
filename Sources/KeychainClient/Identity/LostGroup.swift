internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The group that the file of a program gives to its processes, of a process that does not have it.
///
/// The kernel leaves such a group away without a word, under `no_new_privs` (prctl(2)) and on file systems mounted with
/// `nosuid`. The program would then find none of its items, and store new ones where every other program reads them.
struct LostGroup: Equatable {
    let path: String
    let group: gid_t

    /// nil: the file gives none, or the process has it.
    init?(ofProgram file: String = "/proc/self/exe", effectiveGroup: gid_t = getegid()) {
        var status = stat()
        // Without the right to run it for the group, the bit has another meaning (inode(7)).
        let bits = S_ISGID | S_IXGRP
        guard stat(file, &status) == 0, status.st_mode & bits == bits, status.st_gid != effectiveGroup else {
            return nil
        }
        (path, group) = (file == "/proc/self/exe" ? OwnProgram.path : file, status.st_gid)
    }

    static let ofProcess = LostGroup()

    var refusal: KeychainError {
        KeychainError(
            .missingEntitlement,
            message: "\(path) gives its processes the group \(group), and this one was started without it: under "
                + "no_new_privs (NoNewPrivileges=, containers), or from a file system mounted with nosuid. Its items are "
                + "out of reach, and nothing was done")
    }
}
