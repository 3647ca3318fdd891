package import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// A configuration file of another tool, as it is now. A link is followed: people keep such files elsewhere.
package struct SetupFile {
    private static let mostBytes = 4 << 20

    let path: String
    /// nil: there is no file.
    let content: Data?

    /// - Throws: ``SetupFailure`` if the path has something other than a file of this user's.
    init(_ path: String) throws {
        // The path is recorded, and the undoing may have another working directory.
        let path = FilePath.isAbsolute(path) ? path : FilePath.join(FileManager.default.currentDirectoryPath, path)
        do { self.path = try FilePath.followingLinks(path) } catch { throw SetupFailure(message: error.message) }
        guard let descriptor = try Self.open(self.path) else {
            content = nil
            return
        }
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw KeychainError(file: path, "read", errno) }
        guard information.st_size <= Self.mostBytes else {
            throw SetupFailure(message: "\(path) has more than 4 MiB, and is no file that this command changes")
        }
        guard let bytes = OpenDescriptor.content(of: descriptor) else {
            throw KeychainError(file: path, "read", errno)
        }
        content = Data(bytes)
    }

    private static func open(_ path: String) throws(SetupFailure) -> Int32? {
        do {
            return try OwnFile.open(URL(fileURLWithPath: path), O_RDONLY)
        } catch {
            throw SetupFailure(message: "\(path) is no file of yours that can be read")
        }
    }

    /// The content as text; "" if there is no file.
    ///
    /// - Throws: ``SetupFailure`` if the content is no text.
    var text: String {
        get throws {
            do { return try Self.text(of: content ?? Data()) } catch {
                throw SetupFailure(message: "\(path) \(error.message): nothing was changed")
            }
        }
    }

    /// The content as TOML.
    ///
    /// - Throws: ``SetupFailure`` if the content is no TOML.
    var toml: String {
        get throws {
            let text = try text
            guard let line = TOMLText.flaw(in: text) else { return text }
            throw SetupFailure(message: "\(path) is not TOML from line \(line) on, and no tool reads it: mend it first")
        }
    }

    /// - Throws: ``SetupFailure`` with the end of a sentence that begins with the file.
    package static func text(of content: Data) throws(SetupFailure) -> String {
        guard let text = String(validating: content, as: UTF8.self), !text.utf8.contains(0) else {
            throw SetupFailure(message: "is not UTF-8 text")
        }
        guard text.unicodeScalars.first != "\u{feff}" else {
            throw SetupFailure(message: "begins with a byte order mark")
        }
        return text
    }

    /// Replaces the whole file in one step.
    func replace(with new: Data) throws {
        let model = try Self.open(path)
        defer { if let model { close(model) } }
        try new.withUnsafeBytes { try atomicFile(like: model).replace(with: $0) }
    }

    /// Removes the unfinished file of a command that was killed, which may have passwords.
    func removeLeftover() { atomicFile(like: nil).removeLeftover() }

    /// Only one `setup` writes at a time (``SetupRecord/withLock(_:_:)``), so the name of the new file is its own.
    private func atomicFile(like model: Int32?) -> AtomicFile {
        let name = ".\(FilePath.name(of: path)).keychain-setup"
        return AtomicFile(locked: URL(fileURLWithPath: path), temporaryName: name, model: model, SystemFiles())
    }
}
