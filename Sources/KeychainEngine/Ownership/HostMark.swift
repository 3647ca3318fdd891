internal import Foundation
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The file `host` in a store's directory: which daemon the store belongs to (docs/store-format.md). A store without it
/// is opened by every program itself.
struct HostMark {
    /// More than any word has.
    private static let mostBytes = 64

    private let url: URL
    private let files: any FileSystem

    init(_ configuration: EngineConfiguration) {
        url = configuration.storeDirectory.appendingPathComponent("host")
        files = configuration.files
    }

    /// - Throws: `.notAvailable` if it cannot be read, or names a host that only a newer version knows.
    func read() throws(KeychainError) -> StoreHost {
        let file = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0 && errno == ENOENT { return .embedded }
        guard file >= 0 else { throw AtomicFile.fileError("open", url, errno) }
        defer { close(file) }
        let word = withUnsafeTemporaryAllocation(byteCount: Self.mostBytes, alignment: 1) { bytes in
            let count = Glibc.read(file, bytes.baseAddress, bytes.count)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
        guard let host = StoreHost(rawValue: word.trimmingCharacters(in: .newlines)), host != .embedded else {
            throw KeychainError(
                .notAvailable,
                message: "\(url.path) names a host that this program does not know: a newer version of keychain, or "
                    + "somebody else, wrote it. Nothing was changed")
        }
        return host
    }

    /// To be called under the store's lock, by which the store goes to its new host in one step.
    func write(_ host: StoreHost) throws(KeychainError) {
        guard try read() != host else { return }
        switch host {
        case .embedded:
            guard files.remove(url.path) == 0 else { throw AtomicFile.fileError("remove", url, errno) }
            try AtomicFile.syncDirectory(of: url, files)
        case .user:
            var text = host.rawValue + "\n"
            let result = text.withUTF8 { bytes in
                Result { () throws(KeychainError) in
                    try AtomicFile(locked: url, files).replace(with: UnsafeRawBufferPointer(bytes))
                }
            }
            try result.get()
        }
    }
}

extension KeychainError {
    /// The store is a daemon's, and this is none.
    static func belongsToDaemon(_ directory: URL) -> KeychainError {
        var error = KeychainError(
            .notAvailable,
            message:
                "the keychain in \(directory.path) belongs to this user's keychaind, and only through it can it be "
                + "used: start it with 'systemctl --user start keychaind.socket' or 'keychaind --user', or take the "
                + "keychain back with 'keychainctl migrate --to embedded'")
        error.tellsOfOtherHost = true
        return error
    }

    /// A daemon was to open a store that is none of its own.
    static func belongsToPrograms(_ directory: URL) -> KeychainError {
        KeychainError(
            .notAvailable,
            message: "the keychain in \(directory.path) belongs to the programs that use it: hand it to keychaind with "
                + "'keychainctl migrate --to user'. Nothing was changed")
    }

    static func wasGivenUp(_ directory: URL) -> KeychainError {
        var error = KeychainError(
            .notAvailable,
            message:
                "the keychain in \(directory.path) was given back to the programs that use it; start this one again "
                + "if it does not find it by itself")
        error.tellsOfOtherHost = true
        return error
    }
}
