package import Glibc

/// The calls by which this package changes files outside its database, as the system has them: -1 and `errno` if they
/// fail. The calls are a parameter, so that tests can let each of them fail, and drop data that was not forced to the
/// disk.
///
/// Calls that only read go to the system directly.
package protocol FileSystem: Sendable {
    /// open(2). The mode is for a file that is made, less what umask(2) takes away.
    func open(_ path: String, _ flags: Int32, mode: mode_t) -> Int32
    /// write(2), which may write less than asked for.
    func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int
    /// pwrite(2).
    func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int) -> Int
    /// fsync(2), of a file or of a directory.
    func sync(_ file: Int32) -> Int32
    /// fdatasync(2).
    func syncData(_ file: Int32) -> Int32
    /// ftruncate(2).
    func truncate(_ file: Int32, to size: Int) -> Int32
    /// fallocate(2) with FALLOC_FL_PUNCH_HOLE.
    func punch(_ file: Int32, at offset: Int, count: Int) -> Int32
    /// syncfs(2): everything on the file system of an open file.
    func syncAll(_ file: Int32) -> Int32
    /// rename(2), which replaces a file with the new name.
    func rename(_ path: String, to name: String) -> Int32
    /// link(2), which does not.
    func link(_ path: String, to name: String) -> Int32
    /// unlink(2).
    func remove(_ path: String) -> Int32
    /// mkdir(2), for the owner alone.
    func makeDirectory(_ path: String) -> Int32

    // Renames within a directory that is held open: if its path changes, the names are still in that one.

    func open(_ name: String, in directory: HeldDirectory, _ flags: Int32, mode: mode_t) -> Int32
    func rename(_ name: String, to other: String, in directory: HeldDirectory) -> Int32
    func link(_ name: String, to other: String, in directory: HeldDirectory) -> Int32
    func remove(_ name: String, in directory: HeldDirectory) -> Int32
}

extension FileSystem {
    // By paths, for stand-ins of tests that know files by those.

    package func open(_ name: String, in directory: HeldDirectory, _ flags: Int32, mode: mode_t) -> Int32 {
        open(FilePath.join(directory.path, name), flags, mode: mode)
    }
    package func rename(_ name: String, to other: String, in directory: HeldDirectory) -> Int32 {
        rename(FilePath.join(directory.path, name), to: FilePath.join(directory.path, other))
    }
    package func link(_ name: String, to other: String, in directory: HeldDirectory) -> Int32 {
        link(FilePath.join(directory.path, name), to: FilePath.join(directory.path, other))
    }
    package func remove(_ name: String, in directory: HeldDirectory) -> Int32 {
        remove(FilePath.join(directory.path, name))
    }

    /// Forces to the disk which names an open directory has. Some file systems have nothing there to force, and say so by
    /// EINVAL (fsync(2)): that counts as done.
    package func syncNames(_ directory: Int32) -> Int32 { sync(directory) == 0 || errno == EINVAL ? 0 : -1 }

    /// A file that is made belongs to its owner alone.
    package func open(_ path: String, _ flags: Int32) -> Int32 { open(path, flags, mode: 0o600) }
}

package struct SystemFiles: FileSystem {
    package init() {}

    package func open(_ path: String, _ flags: Int32, mode: mode_t) -> Int32 {
        ckeychain_above_standard(Glibc.open(path, flags, mode))
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int {
        Glibc.write(file, bytes.baseAddress, bytes.count)
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int) -> Int {
        pwrite(file, bytes.baseAddress, bytes.count, off_t(offset))
    }

    package func sync(_ file: Int32) -> Int32 { fsync(file) }
    package func syncData(_ file: Int32) -> Int32 { fdatasync(file) }
    package func truncate(_ file: Int32, to size: Int) -> Int32 { ftruncate(file, off_t(size)) }

    package func punch(_ file: Int32, at offset: Int, count: Int) -> Int32 {
        ckeychain_punch(file, Int64(offset), Int64(count))
    }
    package func syncAll(_ file: Int32) -> Int32 { ckeychain_sync_all(file) }

    package func rename(_ path: String, to name: String) -> Int32 { Glibc.rename(path, name) }
    package func link(_ path: String, to name: String) -> Int32 { Glibc.link(path, name) }
    package func remove(_ path: String) -> Int32 { unlink(path) }
    package func makeDirectory(_ path: String) -> Int32 { mkdir(path, 0o700) }

    package func open(_ name: String, in directory: HeldDirectory, _ flags: Int32, mode: mode_t) -> Int32 {
        ckeychain_above_standard(openat(directory.descriptor, name, flags, mode))
    }
    package func rename(_ name: String, to other: String, in directory: HeldDirectory) -> Int32 {
        renameat(directory.descriptor, name, directory.descriptor, other)
    }
    package func link(_ name: String, to other: String, in directory: HeldDirectory) -> Int32 {
        linkat(directory.descriptor, name, directory.descriptor, other, 0)
    }
    package func remove(_ name: String, in directory: HeldDirectory) -> Int32 {
        unlinkat(directory.descriptor, name, 0)
    }
}
