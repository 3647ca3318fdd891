internal import FoundationEssentials
internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// The files with references to secrets that this user has allowed. The record is the file `allowed` beside the device
/// key.
package struct AllowedFiles {
    private let url: URL
    private let files = SystemFiles()
    /// A limit that no real record comes near.
    private static let mostBytes = 16 << 20

    /// - Parameter location: The store to which the record belongs.
    package init(_ location: StoreLocation) {
        url = location.deviceKeyDirectory.appendingPathComponent("allowed")
    }

    /// The reason why a file does not count: the end of a sentence that begins with the file. nil: it counts.
    package func objection(to file: ReferenceFile) throws -> String? {
        guard let objection = file.objection else { return nil }
        switch try load()[file.path] {
        case file.digest: return nil
        case nil: return objection
        default: return "has changed since it was allowed"
        }
    }

    /// - Throws: `.parameter` if the file has no path that can be remembered.
    package func allow(_ file: ReferenceFile) throws {
        guard file.isNameable else {
            throw KeychainError(
                .parameter,
                message: "\(file.path) has no path that can be remembered: nothing was allowed. It has to be a file "
                    + "whose whole path is UTF-8 text of less than 4 KiB")
        }
        try change { $0[file.path] = file.digest }
    }

    /// - Throws: `.itemNotFound` if the file was not allowed.
    package func remove(_ path: String) throws {
        guard try load()[path] != nil else {
            throw KeychainError(.itemNotFound, message: "\(path) was not allowed")
        }
        try change { $0[path] = nil }
    }

    private func change(_ body: (inout AllowedRecord) -> Void) throws {
        try PrivateDirectory.create(url.deletingLastPathComponent(), files, inOthersHomes: false)
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
