package import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainSystem
package import SealedFiles

/// The file that one of Foundation's functions was told to read or write. It need not exist.
package struct NamedFile {
    package let path: String
    package let url: URL

    /// Fails if the URL names no file. The meaning of that is left to Foundation.
    package init?(_ url: URL) {
        guard url.isFileURL, let path = try? FilePath.of(url) else { return nil }
        self.path = path
        self.url = url
    }

    package init?(path: String) {
        guard !path.isEmpty, !path.utf8.contains(0) else { return nil }
        self.path = path
        // A URL would take a leading "~" for the home directory. Functions that are given a path do not.
        url = URL(fileURLWithPath: FilePath.isAbsolute(path) ? path : "./" + path, isDirectory: false)
    }

    /// The kind of the file that is there.
    package enum State {
        case nothing
        /// A pipe, socket or device. Looking into a pipe would take bytes from it.
        case special
        case directory
        case plain
        case protected
        /// A file that can perhaps be written, but not looked into.
        case unreadable
    }

    package var state: State {
        var status = stat()
        guard stat(path, &status) == 0 else { return .nothing }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .directory
        case S_IFREG: break
        default: return .special
        }
        // A file that the kernel makes up when it is read is left alone: looking might take something away.
        guard status.st_size > 0 else { return .plain }
        do {
            return try OpenFile(reading: path).isProtected() ? .protected : .plain
        } catch {
            // Some files of sysfs can only be written. They take no room on a disk, and a header does.
            return status.st_blocks > 0 && status.st_size >= FileFormat.headerByteCount ? .unreadable : .plain
        }
    }

    /// The class and the length of content that a protected file claims to have. `nil`: it is damaged.
    package var claim: (protection: FileProtection, length: UInt64)? {
        guard let header = try? OpenFile(reading: path).header().claimed else { return nil }
        return (FileProtection(header.fileClass), header.length)
    }

    package var isProtected: Bool { state == .protected }

    /// The class that the file or directory has. `nil` means none.
    package func protection() throws(DataProtectionError) -> FileProtection? {
        switch state {
        case .special, .plain: nil
        case .directory: try ProtectedFiles().inheritedProtection(path)
        case .nothing, .protected, .unreadable: try ProtectedFiles().protection(of: url)
        }
    }

    /// The class that writing gives the file. `nil` means that it becomes or stays a plain file.
    ///
    /// - Parameter asked: The class that the caller named. Without one a protected file keeps its class, and never
    ///   turns into a plain one in silence.
    package func protection(asWritten asked: FileProtection?) throws(DataProtectionError) -> FileProtection? {
        if let asked { return asked }
        switch state {
        case .special, .directory: return nil
        case .protected, .nothing, .plain: return try protectionAsWritten()
        case .unreadable:
            throw DataProtectionError(
                .system, path, "it cannot be read, so whether it is protected is not known, and it is not replaced",
                errno: EACCES)
        }
    }

    private func protectionAsWritten() throws(DataProtectionError) -> FileProtection? {
        do throws(DataProtectionError) {
            return try ProtectedFiles().protection(asWritten: nil, at: try FilePath.target(of: path))
        } catch {
            // Foundation has its own errors for a path that leads nowhere.
            if let errno = error.errno, [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG].contains(errno) { return nil }
            throw error
        }
    }

    /// The content of a protected file. `nil` means that it is not a protected file.
    package func content() throws(DataProtectionError) -> Data? {
        guard isProtected else { return nil }
        do throws(DataProtectionError) {
            return try ProtectedFiles().read(from: url)
        } catch {
            // The file was replaced by a plain one in the meantime.
            if error.code == .notProtected { return nil }
            throw error
        }
    }
}
