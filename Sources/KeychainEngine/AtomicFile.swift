internal import Foundation
internal import Glibc
internal import KeychainModel

/// Small files that are there whole or not at all. Every write of ours outside the database goes through here.
enum AtomicFile {
    /// Replaces a file: write beside it, fsync, rename, fsync of the directory.
    static func replace(_ url: URL, with bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        try write(bytes, beside: url) { temporary throws(KeychainError) in
            try check(rename(temporary, url.path), "replace", url)
        }
    }

    /// Creates a file that must not exist yet.
    ///
    /// - Returns: false, with nothing changed, if another process was first.
    static func create(_ url: URL, with bytes: UnsafeRawBufferPointer) throws(KeychainError) -> Bool {
        var isNew = true
        try write(bytes, beside: url) { temporary throws(KeychainError) in
            // Unlike a rename, a link never takes the place of what is there.
            isNew = link(temporary, url.path) == 0
            let failure = isNew ? 0 : errno
            unlink(temporary)
            if !isNew && failure != EEXIST { throw fileError("create", url, failure) }
        }
        return isNew
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, beside url: URL, then publish: (String) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        let temporary = url.path + ".new-\(UUID().uuidString)"
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try check(file, "create", url)
        do throws(KeychainError) {
            do throws(KeychainError) {
                try writeAll(bytes, to: file, url)
                try check(fsync(file), "write", url)
            } catch {
                close(file)
                throw error
            }
            try check(close(file), "write", url)
            try publish(temporary)
        } catch {
            unlink(temporary)
            throw error
        }
        try syncDirectory(of: url)
    }

    private static func writeAll(
        _ bytes: UnsafeRawBufferPointer, to file: Int32, _ url: URL
    ) throws(KeychainError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = Glibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if written < 0 && errno == EINTR { continue }
            try check(Int32(clamping: written), "write", url)
            rest = rest.dropFirst(written)
        }
    }

    private static func syncDirectory(of url: URL) throws(KeychainError) {
        let directory = url.deletingLastPathComponent()
        let file = open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try check(file, "open", directory)
        defer { close(file) }
        try check(fsync(file), "write", directory)
    }

    private static func check(_ result: Int32, _ verb: String, _ url: URL) throws(KeychainError) {
        if result < 0 { throw fileError(verb, url, errno) }
    }

    static func fileError(_ verb: String, _ url: URL, _ failure: Int32) -> KeychainError {
        let reason = String(cString: strerror(failure))
        return KeychainError(
            failure == ENOSPC ? .diskFull : .notAvailable, message: "cannot \(verb) \(url.path): \(reason)")
    }
}
