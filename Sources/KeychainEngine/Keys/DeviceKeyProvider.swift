internal import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// The source of the device key: a file or a credential today; a TPM would be another.
protocol DeviceKeyProvider: Sendable {
    var origin: DeviceKeyOrigin { get }

    /// - Throws: `.notAvailable`, saying why, if the key cannot be used.
    func load() throws(KeychainError) -> KeyMaterial

    /// The key of a new store. A provider that can make a key makes a missing one.
    func loadOrCreate(randomness: any Randomness) throws(KeychainError) -> KeyMaterial
}

extension EngineConfiguration {
    var deviceKeyProvider: any DeviceKeyProvider {
        if let deviceKeyCredential { return DeviceKeyCredential(url: deviceKeyCredential) }
        return DeviceKeyFile(directory: deviceKeyDirectory, files, inOthersHomes: mayLieInOthersHomes)
    }
}

/// The device key as a file: 32 random bytes, readable by its owner alone.
///
/// The key does not protect against a thief of the whole home directory, who has this file too; `keychainctl status`
/// says so.
struct DeviceKeyFile: DeviceKeyProvider {
    let url: URL
    private let files: any FileSystem
    private let inOthersHomes: Bool

    init(directory: URL, _ files: any FileSystem, inOthersHomes: Bool = false) {
        self.inOthersHomes = inOthersHomes
        url = directory.appendingPathComponent("device-key")
        self.files = files
    }

    var origin: DeviceKeyOrigin { .file(url.path) }

    func load() throws(KeychainError) -> KeyMaterial {
        try RawKeyFile(url: url).load { information in
            if information.st_uid != geteuid() { return "it belongs to another user" }
            if information.st_mode & 0o077 != 0 { return "others may read it. Run: chmod 600 '\(url.path)'" }
            return nil
        }
    }

    func loadOrCreate(randomness: any Randomness) throws(KeychainError) -> KeyMaterial {
        if !FilePath.exists(url.path) && errno == ENOENT {
            let directory = url.deletingLastPathComponent()
            try PrivateDirectory.create(directory, files, inOthersHomes: inOthersHomes)
            try PrivateDirectory.makeDurable(directory, files)
            let fresh = try KeyMaterial { target throws(KeychainError) in try randomness.fill(target) }
            // Another process may be quicker; then its key counts, and this one was never used.
            _ = try fresh.withUnsafeBytes { bytes throws(KeychainError) in
                try AtomicFile(unlocked: url, files).create(with: bytes)
            }
        }
        let key = try load()
        try removeLeftovers()
        return key
    }

    /// Removes the files that killed makers left, now that there is a key. Each file has a name of its own, since
    /// stores share no lock; a maker still at work sees that it was too late. In a directory that this user cannot
    /// change the files stay.
    private func removeLeftovers() throws(KeychainError) {
        let directory = url.deletingLastPathComponent().path
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else { return }
        let leftovers = names.filter { $0.hasPrefix(AtomicFile.unlockedPrefix(url)) }
        if leftovers.isEmpty { return }
        for name in leftovers where files.remove("\(directory)/\(name)") != 0 && errno != ENOENT {
            if [EACCES, EPERM, EROFS].contains(errno) { return }
            throw KeychainError(file: "remove", URL(fileURLWithPath: "\(directory)/\(name)"), errno)
        }
        try AtomicFile.syncDirectory(of: url, files)
    }
}

/// The device key as systemd hands it to a service (systemd.exec(5), LoadCredential= and LoadCredentialEncrypted=):
/// 32 bytes in `$CREDENTIALS_DIRECTORY/keychain.device-key`.
struct DeviceKeyCredential: DeviceKeyProvider {
    let url: URL

    var origin: DeviceKeyOrigin { .credential(url.path) }

    func load() throws(KeychainError) -> KeyMaterial {
        try RawKeyFile(url: url).load { information in
            // The credential may belong to root, who gives the service's user access by an access control list: the
            // mode shows that as a permission of the group.
            if information.st_uid != geteuid() && information.st_uid != 0 { return "it belongs to another user" }
            return information.st_mode & 0o027 == 0 ? nil : "others may read or change it"
        }
    }

    func loadOrCreate(randomness: any Randomness) throws(KeychainError) -> KeyMaterial { try load() }
}

/// A file that holds nothing but a key.
private struct RawKeyFile {
    let url: URL

    /// - Parameter flaw: The flaw of the file's owner or mode, if any.
    func load(_ flaw: (stat) -> String?) throws(KeychainError) -> KeyMaterial {
        guard let file = try OwnFile.open(url, O_RDONLY, of: .anybody) else {
            throw unusable("it is missing. Without it nothing in this store can be read")
        }
        defer { close(file) }
        var information = stat()
        guard fstat(file, &information) == 0 else { throw KeychainError(file: "read", url, errno) }
        if let flaw = flaw(information) { throw unusable(flaw) }
        guard information.st_size == KeyMaterial.byteCount else {
            throw unusable("it has \(information.st_size) bytes instead of \(KeyMaterial.byteCount)")
        }
        return try KeyMaterial { target throws(KeychainError) in
            guard read(file, target.baseAddress, target.count) == target.count else {
                throw KeychainError(file: "read", url, errno)
            }
        }
    }

    private func unusable(_ reason: String) -> KeychainError {
        KeychainError(.notAvailable, message: "the device key \(url.path) cannot be used: \(reason)")
    }
}
