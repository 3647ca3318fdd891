internal import FoundationEssentials
internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// The file `host` in a store's directory, which names the daemon that the store belongs to (docs/store-format.md).
/// Every program opens a store without this file itself.
package struct HostMark {
    private let directory: URL
    private let files: any FileSystem

    package init(_ configuration: EngineConfiguration) {
        directory = configuration.storeDirectory
        files = configuration.files
    }

    private var url: URL { StoreHost.mark(in: directory) }

    package func read() throws(KeychainError) -> StoreHost { try StoreHost(ofStore: directory) }

    /// The caller has the store's lock, so the store goes to its new host in one step.
    func write(_ host: StoreHost) throws(KeychainError) {
        guard try read() != host else { return }
        switch host {
        case .embedded:
            guard files.remove(url.path) == 0 else { throw KeychainError(file: "remove", url, errno) }
            try AtomicFile.syncDirectory(of: url, files)
        case .user, .system, .moving, .moved:
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
    /// The error of a program or a daemon that opens the store of another daemon.
    static func belongs(_ directory: URL, to host: StoreHost) -> KeychainError {
        if host.isMoving { return .isMoved(directory) }
        let (whose, start) =
            host == .system
            ? ("the system's", "'systemctl enable --now keychaind.socket' (as root)")
            : ("this user's", "'systemctl --user start keychaind.socket' or 'keychaind --user'")
        return KeychainError(
            .notAvailable,
            message:
                "the keychain in \(directory.path) belongs to \(whose) keychaind, and only through it can it be used: "
                + "start it with \(start), or take the keychain back with 'keychainctl migrate --to embedded'",
            signal: .otherHost)
    }

    /// The error of a daemon that opens the store of the programs.
    static func belongsToPrograms(_ directory: URL) -> KeychainError {
        KeychainError(
            .notAvailable,
            message: "the keychain in \(directory.path) belongs to the programs that use it: hand it to keychaind with "
                + "'keychainctl migrate --to user'. Nothing was changed")
    }

    static func hasChangedHands(_ directory: URL) -> KeychainError {
        KeychainError(
            .notAvailable,
            message:
                "the keychain in \(directory.path) has changed hands meanwhile. Nothing was changed: run the command again"
        )
    }

    static func wasGivenUp(_ directory: URL) -> KeychainError {
        KeychainError(
            .notAvailable,
            message:
                "the keychain in \(directory.path) was given back to the programs that use it; start this one again "
                + "if it does not find it by itself",
            signal: .otherHost)
    }
}
