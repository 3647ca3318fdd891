internal import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel

/// The device key as a file: 32 random bytes, readable by its owner alone.
///
/// It does not protect against a thief of the whole home directory, who has this file too; `keychain status`
/// says so.
struct DeviceKeyFile {
    let url: URL

    init(directory: URL) { url = directory.appendingPathComponent("device-key") }

    /// - Throws: `.notAvailable` if there is no such file, it has another size or owner, or others may read it.
    func load() throws -> KeyMaterial {
        let file = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { throw unusable("it is missing. Without it nothing in this store can be read") }
            throw AtomicFile.fileError("open", url, errno)
        }
        defer { close(file) }
        var information = stat()
        guard fstat(file, &information) == 0 else { throw AtomicFile.fileError("read", url, errno) }
        guard information.st_uid == geteuid() else { throw unusable("it belongs to another user") }
        guard information.st_mode & 0o077 == 0 else {
            throw unusable("others may read it. Run: chmod 600 '\(url.path)'")
        }
        guard information.st_size == KeyMaterial.byteCount else {
            throw unusable("it has \(information.st_size) bytes instead of \(KeyMaterial.byteCount)")
        }
        return try KeyMaterial { target in
            guard read(file, target.baseAddress, target.count) == target.count else {
                throw AtomicFile.fileError("read", url, errno)
            }
        }
    }

    /// The key of this device, made if there is none yet.
    func loadOrCreate(randomness: some Randomness) throws -> KeyMaterial {
        if access(url.path, F_OK) != 0 && errno == ENOENT {
            try PrivateDirectory.create(url.deletingLastPathComponent())
            let fresh = try KeyMaterial(from: randomness)
            // Another process may be quicker; then its key is the one, and ours was never used.
            _ = try fresh.withUnsafeBytes { bytes throws(KeychainError) in
                try AtomicFile.create(url, with: bytes)
            }
        }
        return try load()
    }

    private func unusable(_ reason: String) -> KeychainError {
        KeychainError(.notAvailable, message: "the device key \(url.path) cannot be used: \(reason)")
    }
}
