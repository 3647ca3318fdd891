package import Foundation
internal import Glibc
package import KeychainSystem

/// Small files that are encrypted or decrypted together, so that they wait for the disk together.
///
/// Each new file is on the disk before it takes the old one's place, and has it on the disk before this says so, as with
/// files that are converted one by one; but there is one wait for all new files and one for all names, where there are two
/// for each file otherwise. That is syncfs(2): forcing the files of a batch to the disk one after the other has the disk
/// empty its own cache for each of them all the same, and takes ten times as long; from several threads at once, two to
/// three times (Benchmarks/FIGURES.md). It also waits for what other programs have written.
package final class ConversionBatch {
    /// How many files there may be, whose descriptors are all open.
    private static let mostFiles = 256
    /// How much they hold, but for the last one.
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
        // Two for each file, and one or two for its directory; the rest is for others.
        capacity = max(1, min(Self.mostFiles, (Int(clamping: limit.rlim_cur) - 64) / 4))
    }

    package var isFull: Bool { prepared.count >= capacity || bytes >= Self.mostBytes }

    /// Encrypts a plain file. Its place is taken by ``publish()``.
    ///
    /// - Parameters:
    ///   - size: About how much it holds.
    ///   - found: As with ``ProtectedFiles/meaning(_:)``.
    /// - Returns: false if it was protected already.
    /// - Throws: as ``ProtectedFiles/protect(_:as:progress:)``.
    package func protect(
        _ url: URL, _ found: FileNumber? = nil, as protection: FileProtection?, size: UInt64,
        progress: (ProtectedFiles.Progress) -> Void
    ) throws(DataProtectionError) -> Bool {
        try add(try files.meaning(found).protecting(url, as: protection, progress), size)
    }

    /// Decrypts a protected file. Its place is taken by ``publish()``.
    ///
    /// - Returns: false if it was a plain file already.
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
    /// - Returns: for each file, in the order in which they came, why it failed; nil: it is done, and on the disk.
    package func publish() -> [DataProtectionError?] {
        defer {
            prepared = []
            bytes = 0
            disks = OpenDisks()
        }
        var failures = [DataProtectionError?](repeating: nil, count: prepared.count)
        // A single one forces no more to the disk than itself.
        let waits = prepared.count > 1 ? disks.writeAll(files.files) : []
        for (number, file) in prepared.enumerated() {
            failures[number] = failure { () throws(DataProtectionError) in
                if !waits.contains(file.device) { try file.force() }
            }
        }
        for (number, file) in prepared.enumerated() where failures[number] == nil {
            failures[number] = failure { () throws(DataProtectionError) in
                try file.takePlace(forcesFile: !waits.contains(file.device), forcesDirectory: false)
            }
        }
        let named = waits.isEmpty ? [] : disks.writeAll(files.files)
        for (number, file) in prepared.enumerated() where failures[number] == nil && !named.contains(file.device) {
            failures[number] = failure { () throws(DataProtectionError) in
                try disks.forceDirectory(of: file.path, files.files)
            }
        }
        return failures
    }

    private func failure(_ body: () throws(DataProtectionError) -> Void) -> DataProtectionError? {
        do throws(DataProtectionError) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}

/// The directories that the files of a batch are in, open since before the files were written.
private struct OpenDisks: ~Copyable {
    private var directories: [PathKey: Int32] = [:]
    /// Of each file system on which one wait for everything is enough, an open directory.
    private var wholes: [dev_t: Int32] = [:]
    /// Of each directory that was forced to the disk, what came of it: the kernel tells of a failure once.
    private var outcomes: [PathKey: Result<Void, DataProtectionError>] = [:]

    deinit { for descriptor in directories.values { close(descriptor) } }

    mutating func open(_ conversion: PreparedConversion) throws(DataProtectionError) {
        let directory = PathKey(FilePath.directory(of: conversion.path))
        guard directories[directory] == nil, let descriptor = try conversion.openDirectory() else { return }
        directories[directory] = descriptor
        if Self.tellsFailures(descriptor) { wholes[conversion.device] = wholes[conversion.device] ?? descriptor }
    }

    /// Forces everything to the disk, on each file system where the kernel says whether it worked.
    ///
    /// - Returns: those on which it did. What failed there may be another program's, so that the others are to be asked
    ///   file by file.
    func writeAll(_ files: any FileSystem) -> Set<dev_t> {
        Set(wholes.filter { files.syncAll($0.value) == 0 }.keys)
    }

    mutating func forceDirectory(of path: String, _ files: any FileSystem) throws(DataProtectionError) {
        let directory = PathKey(FilePath.directory(of: path))
        // One that may be written and not read cannot be forced.
        guard let descriptor = directories[directory] else { return }
        let outcome =
            outcomes[directory]
            ?? Result { () throws(DataProtectionError) in try Replacement.force(descriptor, path, files) }
        outcomes[directory] = outcome
        if case .failure(let error) = outcome { throw DataProtectionError(error, of: path) }
    }

    /// ext2, ext3, ext4; XFS; Btrfs; F2FS (statfs(2)). Others, those that are programs above all, need not hand syncfs(2) on
    /// to whatever has the disk.
    private static let known: Set<Int64> = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010]

    /// Whether syncfs(2) fails if something could not be written since the descriptor was opened: from Linux 5.8 on.
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
    /// The same of another file.
    fileprivate init(_ error: DataProtectionError, of path: String) {
        self.init(error.code, path, error.message, errno: error.errno, status: error.status)
    }
}
