internal import Foundation
internal import Glibc
internal import KeychainFiles
internal import KeychainModel
internal import KeychainRun
internal import KeychainSystem
internal import SwiftKeychain

/// Which projects' files this user has looked at and allowed: the file `allowed` beside the device key.
struct AllowedProjects {
    private let url: URL
    private let files = SystemFiles()
    /// More than anybody allows.
    private static let mostBytes = 16 << 20

    init(_ store: StoreOptions) throws(KeychainError) {
        url = try StoreLocation(store.configuration).deviceKeyDirectory.appendingPathComponent("allowed")
    }

    /// - Throws: a ``ToolFailure`` if the file is not allowed as it is now.
    func require(_ project: Project) throws {
        let advice = "look at it with 'keychainctl allow', or leave it out with --no-project"
        switch try load()[project.path] {
        case project.digest: return
        case nil: throw ToolFailure(message: "\(project.path) is not allowed: \(advice)")
        default: throw ToolFailure(message: "\(project.path) has changed since it was allowed: \(advice)")
        }
    }

    func allow(_ project: Project) throws {
        try change { $0[project.path] = project.digest }
    }

    /// - Throws: `.itemNotFound` if it was not allowed.
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

    /// - Throws: `.notAvailable` if it is not this user's own, or others may write to it.
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
                message: "\(url.path) is damaged, or of a newer version: remove it, and allow each project anew")
        }
        return record
    }
}
