internal import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// The file `keybag` of a store.
struct KeybagFile: Sendable {
    /// More than a bag has whose keys were renewed as often as they may be.
    private static let most = 256 << 10

    let url: URL
    private let file: AtomicFile

    init(url: URL, _ files: any FileSystem) {
        self.url = url
        file = AtomicFile(locked: url, files)
    }

    var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

    /// - Throws: `.notAvailable` if it is missing, another user's, not readable, or not an intact keybag of this device
    ///   key and, if one is named, of this store.
    func load(deviceKey: KeyMaterial, expecting storeID: UUID? = nil) throws(KeychainError) -> Keybag {
        let bytes = try bytes()
        return try Self.usable { () throws(KeychainError) in
            let bag = try Keybag(decoding: bytes, deviceKey: deviceKey)
            guard storeID == nil || bag.storeID == storeID else { throw Self.foreign }
            return bag
        }
    }

    /// Makes of a bag that does not open what it is to callers: a keychain that cannot be used.
    static func usable<R>(_ body: () throws(KeychainError) -> R) throws(KeychainError) -> R {
        do throws(KeychainError) {
            return try body()
        } catch  where error.code == .decode {
            throw KeychainError(
                .notAvailable, message: "\(error.message). Nothing was changed; run 'keychainctl doctor'", cause: error)
        }
    }

    private static var foreign: KeychainError {
        KeychainError(.decode, message: "the file keybag is not usable: it belongs to another store")
    }

    private func bytes() throws(KeychainError) -> Data {
        let file = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw AtomicFile.fileError("open", url, errno) }
        defer { close(file) }
        var information = stat()
        guard fstat(file, &information) == 0 else { throw AtomicFile.fileError("read", url, errno) }
        guard information.st_uid == geteuid() else {
            throw KeychainError(
                .notAvailable,
                message: "the keybag \(url.path) cannot be used: it belongs to user \(information.st_uid), and this "
                    + "program runs as \(geteuid())")
        }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw KeychainError(.notAvailable, message: "the keybag \(url.path) cannot be used: it is no regular file")
        }
        var bytes = Data(count: min(Int(information.st_size), Self.most))
        let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw AtomicFile.fileError("read", url, errno) }
        return bytes.prefix(count)
    }

    /// Removes what a writer left that was killed. Under the store's lock, as every write.
    func removeLeftover() { file.removeLeftover() }

    func replace(with bag: Keybag, deviceKey: KeyMaterial) throws(KeychainError) {
        try write(bag, deviceKey) { bytes throws(KeychainError) in try file.replace(with: bytes) }
    }

    /// - Throws: `.notAvailable` if another process made one meanwhile: it must not be lost.
    func create(_ bag: Keybag, deviceKey: KeyMaterial) throws(KeychainError) {
        try write(bag, deviceKey) { bytes throws(KeychainError) in
            guard try file.create(with: bytes) else {
                throw KeychainError(.notAvailable, message: "\(url.path) appeared while a store was being made")
            }
        }
    }

    private func write(
        _ bag: Keybag, _ deviceKey: KeyMaterial, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        var result: Result<Void, KeychainError> = .success(())
        bag.encoded(deviceKey: deviceKey).withUnsafeBytes { bytes in
            do throws(KeychainError) { try body(bytes) } catch { result = .failure(error) }
        }
        try result.get()
    }
}
