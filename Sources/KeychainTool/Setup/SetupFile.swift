internal import Foundation
internal import KeychainFiles
internal import KeychainModel
internal import KeychainSystem

/// A configuration file of another tool, as it is now. A link is followed: people keep such files elsewhere.
struct SetupFile {
    private static let mostBytes = 4 << 20

    let path: String
    /// nil: there is none.
    let content: Data?
    private let mode: mode_t

    /// - Throws: ``ToolFailure`` if something else is in its place, or another user's file.
    init(_ path: String) throws {
        do { self.path = try FilePath.followingLinks(path) } catch { throw ToolFailure(message: error.message) }
        guard let descriptor = try OwnFile.open(URL(fileURLWithPath: self.path), O_RDONLY) else {
            (content, mode) = (nil, 0o600)
            return
        }
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw KeychainError(file: path, "read", errno) }
        guard information.st_size <= Self.mostBytes else {
            throw ToolFailure(message: "\(path) has more than 4 MiB, and is no file that this command changes")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        content = try handle.readToEnd() ?? Data()
        mode = information.st_mode & 0o777
    }

    /// The content as text; "" if there is no file.
    ///
    /// - Throws: ``ToolFailure`` for what is none.
    var text: String {
        get throws {
            guard let text = String(validating: content ?? Data(), as: UTF8.self), !text.utf8.contains(0) else {
                throw ToolFailure(message: "\(path) is not UTF-8 text: nothing was changed")
            }
            return text
        }
    }

    /// Replaces it as a whole, in one step.
    ///
    /// - Throws: ``ToolFailure`` if it has changed since it was read.
    func replace(with new: Data) throws {
        guard try SetupFile(path).content == content else {
            throw ToolFailure(message: "\(path) was changed by another program meanwhile: try again")
        }
        try new.withUnsafeBytes {
            try AtomicFile(unlocked: URL(fileURLWithPath: path), mode: mode, SystemFiles()).replace(with: $0)
        }
    }
}
