internal import Foundation
internal import Glibc
internal import KeychainClient
internal import KeychainModel
internal import KeychainRun
internal import KeychainSystem

/// The files with references to secrets that this user has allowed. The record is the file `allowed` beside the device
/// key.
struct AllowedFiles {
    private let url: URL
    private let store: StoreOptions
    private let files = SystemFiles()
    /// A limit that no real record comes near.
    private static let mostBytes = 16 << 20

    init(_ store: StoreOptions) throws(KeychainError) {
        self.store = store
        url = try StoreLocation(store.configuration).deviceKeyDirectory.appendingPathComponent("allowed")
    }

    /// Lets a file through that needs no permission, has it with its present content, or gets it from the person at the
    /// terminal.
    ///
    /// - Parameters:
    ///   - otherwise: The advice to do without the file.
    ///   - mayAsk: Whether a person may be asked.
    /// - Throws: a ``ToolFailure`` if the file is not allowed, `.userCancelled` if the person declines.
    func require(_ file: ReferenceFile, otherwise: String, mayAsk: Bool) throws {
        guard let objection = try objection(to: file) else { return }
        guard mayAsk && file.isNameable && Confirmation.isPossible else {
            let look = file.isNameable ? "look at it with '\(command(file))'" : "look at it"
            throw ToolFailure(
                message: "\(file.path) \(objection): \(look), let it count this once with --allow, or \(otherwise)")
        }
        Console.show(ReferenceReport(file).lines)
        try Confirmation.require(
            "\(file.path) \(objection). 'keychainctl run' will give these secrets to commands that are started with it, "
                + "until it changes", else: "it is not allowed")
        try allow(file)
    }

    /// The command that allows the file, as a line for the shell.
    private func command(_ file: ReferenceFile) -> String {
        let options = [("--store", store.storeDirectory), ("--device-key", store.deviceKeyDirectory)]
            .flatMap { option, value in value.map { [option, $0] } ?? [] }
        let path: [String] = if case .project = file.content { [] } else { [file.path] }
        return (["keychainctl", "allow"] + options + path).map(ShellWord.quoted).joined(separator: " ")
    }

    private func objection(to file: ReferenceFile) throws -> String? {
        guard let objection = file.objection else { return nil }
        switch try load()[file.path] {
        case file.digest: return nil
        case nil: return objection
        default: return "has changed since it was allowed"
        }
    }

    /// - Throws: `.parameter` if the file has no path that can be remembered.
    func allow(_ file: ReferenceFile) throws {
        guard file.isNameable else {
            throw KeychainError(
                .parameter,
                message: "\(file.path) has no path that can be remembered: nothing was allowed. It has to be a file "
                    + "whose whole path is UTF-8 text of less than 4 KiB")
        }
        try change { $0[file.path] = file.digest }
    }

    /// - Throws: `.itemNotFound` if the file was not allowed.
    func remove(_ path: String) throws {
        guard try load()[path] != nil else {
            throw KeychainError(.itemNotFound, message: "\(path) was not allowed")
        }
        try change { $0[path] = nil }
    }

    private func change(_ body: (inout AllowedRecord) -> Void) throws {
        try PrivateDirectory.create(url.deletingLastPathComponent(), files)
        let lock = url.deletingLastPathComponent().appendingPathComponent("allowed.lock")
        try LockFile.withLock(lock, files) {
            var record = try load()
            body(&record)
            try Array(record.text.utf8).withUnsafeBytes { try AtomicFile(locked: url, files).replace(with: $0) }
        }
    }

    /// - Throws: `.notAvailable` if the record is not this user's own, or others may write to it.
    private func load() throws -> AllowedRecord {
        guard let descriptor = try OwnFile.open(url, O_RDONLY) else { return AllowedRecord() }
        defer { close(descriptor) }
        try PrivateDirectory.check(url.deletingLastPathComponent())
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw KeychainError(file: "read", url, errno) }
        guard status.st_mode & 0o022 == 0 else {
            throw KeychainError(
                .notAvailable,
                message: "\(url.path) is refused: other users may write to it. Look at what it allows, and run: "
                    + "chmod 600 '\(url.path)'")
        }
        let buffer = SecretBuffer()
        while buffer.count <= Self.mostBytes,
            try buffer.fill(from: descriptor, failure: { KeychainError(file: "read", url, $0) })
        {}
        guard let record = buffer.secret().withUnsafeBytes({ AllowedRecord($0) }) else {
            throw KeychainError(
                .decode,
                message: "\(url.path) is damaged, or of a newer version: remove it, and allow each file anew")
        }
        return record
    }
}
