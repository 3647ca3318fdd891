internal import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainSystem

/// What one of Foundation's functions was told to read or write, which need not exist.
struct NamedFile {
    let path: String
    let url: URL

    /// nil: no file is named. What that means is left to Foundation.
    init?(_ url: URL) {
        guard url.isFileURL, let path = try? FilePath.of(url) else { return nil }
        self.path = path
        self.url = url
    }

    init?(path: String) {
        guard !path.isEmpty, !path.utf8.contains(0) else { return nil }
        self.path = path
        // A URL would take a leading "~" for the home; functions that are given a path do not.
        url = URL(fileURLWithPath: FilePath.isAbsolute(path) ? path : "./" + path, isDirectory: false)
    }

    /// What is there.
    enum State {
        case nothing
        /// No regular file: looking into a pipe would take from it.
        case special
        case directory
        case plain
        case protected
        /// A file that can perhaps be written, but not looked into.
        case unreadable
    }

    var state: State {
        var status = stat()
        guard stat(path, &status) == 0 else { return .nothing }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .directory
        case S_IFREG: break
        default: return .special
        }
        // Nothing that the kernel makes up as it is read, where looking might take something away.
        guard status.st_size > 0 else { return .plain }
        do {
            return try OpenFile(reading: path).isProtected() ? .protected : .plain
        } catch {
            // Such as files of sysfs that can only be written: they take no room, and a header does.
            return status.st_blocks > 0 && status.st_size >= FileFormat.headerByteCount ? .unreadable : .plain
        }
    }

    var isProtected: Bool { state == .protected }

    /// The class that the file or directory has; nil: none.
    func protection() throws(DataProtectionError) -> FileProtection? {
        switch state {
        case .special, .plain: nil
        case .directory: try ProtectedFiles().inheritedProtection(path)
        case .nothing, .protected, .unreadable: try ProtectedFiles().protection(of: url)
        }
    }

    /// The class that writing gives it; nil: it becomes or stays a plain file.
    ///
    /// - Parameter asked: nil: nothing was said. Then a protected file keeps its class, however it is written: it never
    ///   turns into a plain one in silence.
    func protection(asWritten asked: FileProtection?) throws(DataProtectionError) -> FileProtection? {
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
            // Foundation says in its own way what is wrong with a path that leads nowhere.
            if let errno = error.errno, [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG].contains(errno) { return nil }
            throw error
        }
    }

    /// The content of a protected file; nil: it is none.
    func content() throws(DataProtectionError) -> Data? {
        guard isProtected else { return nil }
        do throws(DataProtectionError) {
            return try ProtectedFiles().read(from: url)
        } catch {
            // It was replaced by a plain one meanwhile.
            if error.code == .notProtected { return nil }
            throw error
        }
    }
}
