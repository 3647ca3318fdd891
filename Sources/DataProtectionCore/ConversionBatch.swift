package import FoundationEssentials
internal import Glibc
package import KeychainSystem
package import SealedFiles

/// Small files that are encrypted or decrypted together, so that they wait for the disk together.
///
/// Each new file is on the disk before it takes the old one's place, and its name is on the disk before ``publish()``
/// reports success. That is the order for single files too, with two waits for each file. A batch has one wait for all
/// contents and one for all names.
///
/// The wait is syncfs(2). Forcing the files to the disk one by one makes the disk empty its cache for each of them and
/// takes ten times as long, and from several threads at once two to three times (Benchmarks/FIGURES.md). The drawback
/// is that syncfs(2) also waits for the writes of other programs.
package final class ConversionBatch {
    /// The largest number of files. Their descriptors are all open.
    private static let mostFiles = 256
    /// The content of all files together, in bytes, after which the batch is full.
    package static let mostBytes: UInt64 = 16 << 20

    private let files: ProtectedFiles
    private var prepared: [PreparedConversion] = []
    private var bytes: UInt64 = 0
    private let capacity: Int
    private var disks = OpenDisks()

    package init(_ files: ProtectedFiles) {
        self.files = files
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // A file takes two descriptors and its directory one or two. The rest is left for other uses.
        capacity = max(1, min(Self.mostFiles, (Int(clamping: limit.rlim_cur) - 64) / 4))
    }

    package var isFull: Bool { prepared.count >= capacity || bytes >= Self.mostBytes }

    /// Encrypts a plain file beside its place, which ``publish()`` gives it.
    ///
    /// - Parameters:
    ///   - size: The approximate length of the content.
    ///   - found: The file, as for ``ProtectedFiles/meaning(_:)``.
    /// - Returns: false if the file was protected already.
    /// - Throws: The errors of ``ProtectedFiles/protect(_:as:progress:)``.
    package func protect(
        _ url: URL, _ found: FileNumber? = nil, as protection: FileProtection?, size: UInt64,
        progress: (ProtectedFiles.Progress) -> Void
    ) throws(DataProtectionError) -> Bool {
        try add(try files.meaning(found).protecting(url, as: protection, progress), size)
    }

    /// Decrypts a protected file beside its place, which ``publish()`` gives it.
    ///
    /// - Returns: false if the file was a plain one already.
    package func unprotect(
        _ url: URL, _ found: FileNumber? = nil, size: UInt64, progress: (ProtectedFiles.Progress) -> Void
    ) throws(DataProtectionError) -> Bool {
        try add(try files.meaning(found).unprotecting(url, progress), size)
    }

    private func add(_ conversion: PreparedConversion?, _ size: UInt64) throws(DataProtectionError) -> Bool {
        guard let conversion else { return false }
        try disks.open(conversion)
        prepared.append(conversion)
        bytes += size
        return true
    }

    // MARK: All of them

    /// Gives the new files their places, each whole or not at all.
    ///
    /// - Returns: An entry for each file, in the order in which the files came: the error, or `nil` if the file is done
    ///   and on the disk.
    package func publish() -> [DataProtectionError?] {
        defer {
            prepared = []
            bytes = 0
            disks = OpenDisks()
        }
        var failures = [DataProtectionError?](repeating: nil, count: prepared.count)
        // For a single file it is enough to force that file to the disk.
        let waits = prepared.count > 1 ? disks.writeAll(files.files) : []
        func withEach(_ step: (PreparedConversion) throws(DataProtectionError) -> Void) {
            for (number, file) in prepared.enumerated() where failures[number] == nil {
                do throws(DataProtectionError) { try step(file) } catch { failures[number] = error }
            }
        }
        withEach { (file) throws(DataProtectionError) in if !waits.contains(file.device) { try file.force() } }
        withEach { (file) throws(DataProtectionError) in
            try file.takePlace(forcesFile: !waits.contains(file.device), forcesDirectory: false)
        }
        let named = waits.isEmpty ? [] : disks.writeAll(files.files)
        withEach { (file) throws(DataProtectionError) in
            if !named.contains(file.device) { try disks.forceDirectory(of: file.path, files.files) }
        }
        return failures
    }
}

/// The directories of the files in a batch. They are open since before the files were written.
private struct OpenDisks: ~Copyable {
    private var directories: [PathKey: Int32] = [:]
    /// An open directory of each file system on which one wait for everything is enough.
    private var wholes: [dev_t: Int32] = [:]
    /// The outcome for each directory that was forced to the disk. The kernel reports a failure only once.
    private var outcomes: [PathKey: Result<Void, DataProtectionError>] = [:]

    deinit { for descriptor in directories.values { close(descriptor) } }

    mutating func open(_ conversion: PreparedConversion) throws(DataProtectionError) {
        let directory = PathKey(FilePath.directory(of: conversion.path))
        guard directories[directory] == nil, let descriptor = try conversion.openDirectory() else { return }
        directories[directory] = descriptor
        if Self.tellsFailures(descriptor) { wholes[conversion.device] = wholes[conversion.device] ?? descriptor }
    }

    /// Forces everything to the disk, on each file system where the kernel reports whether that worked.
    ///
    /// - Returns: The file systems on which it worked. A failure may be that of another program's file, so the files of
    ///   the other file systems are forced one by one.
    func writeAll(_ files: any FileSystem) -> Set<dev_t> {
        Set(wholes.filter { files.syncAll($0.value) == 0 }.keys)
    }

    mutating func forceDirectory(of path: String, _ files: any FileSystem) throws(DataProtectionError) {
        let directory = PathKey(FilePath.directory(of: path))
        // A directory that may be written and not read cannot be forced to the disk.
        guard let descriptor = directories[directory] else { return }
        let outcome =
            outcomes[directory]
            ?? Result { () throws(DataProtectionError) in try Replacement.force(descriptor, path, files) }
        outcomes[directory] = outcome
        if case .failure(let error) = outcome { throw DataProtectionError(error, of: path) }
    }

    /// The file systems that are trusted with syncfs(2), by their numbers in statfs(2): ext2 to ext4, XFS, Btrfs and
    /// F2FS.
    ///
    /// Other file systems, above all those that are programs, need not pass syncfs(2) on to the disk below them.
    private static let known: Set<Int64> = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010]

    /// Whether syncfs(2) reports writes that failed since the descriptor was opened. Linux does that from 5.8 on.
    private static func tellsFailures(_ descriptor: Int32) -> Bool {
        var type: Int64 = 0
        return kernelTellsFailures && ckeychain_file_system_type(descriptor, &type) == 0 && known.contains(type)
    }

    private static let kernelTellsFailures: Bool = {
        var name = utsname()
        guard uname(&name) == 0 else { return false }
        let release = withUnsafeBytes(of: &name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let numbers = release.split(separator: ".").prefix(2).map { Int($0.prefix { $0.isNumber }) ?? 0 }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (5, 8)
    }()
}

extension DataProtectionError {
    /// Copies an error, for another file.
    fileprivate init(_ error: DataProtectionError, of path: String) {
        self.init(error.code, path, error.message, errno: error.errno, status: error.status)
    }
}
