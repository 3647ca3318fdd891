internal import Foundation
internal import Glibc
internal import KeychainModel
internal import KeychainPlaces

/// The files of keychains themselves, which the commands for files keep away from.
///
/// Encrypted under its own keys no keychain could open them any more. And a database that this process has open must not
/// even be looked at: closing a file gives up SQLite's locks on it, however often it is open (fcntl(2)).
struct StoreFiles {
    private struct Place: Equatable {
        let device: dev_t
        let number: ino_t

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = status.st_dev
            number = status.st_ino
        }
    }

    private let own: [Place]

    init(_ session: KeychainSession) {
        let location = session.location
        own = [location?.storeDirectory, location?.deviceKeyDirectory].compactMap { $0.flatMap { Place($0.path) } }
    }

    static func refusal(of path: String) -> FileFailure {
        FileFailure(path, .parameter, "it belongs to a keychain, whose own files are encrypted already")
    }

    /// - Throws: if a file lies, or would lie, in such a directory.
    func requireElsewhere(_ path: String) throws(FileFailure) {
        if belong(in: parentDirectory(of: path)) { throw Self.refusal(of: path) }
    }

    /// Whether a directory is that of a store or of a device key: this keychain's, or by its files another one's.
    func belong(in directory: String) -> Bool {
        if let place = Place(directory), own.contains(place) { return true }
        func size(_ name: String) -> off_t? {
            var status = stat()
            return lstat(directory + "/" + name, &status) == 0 ? status.st_size : nil
        }
        return size("device-key") == 32 || size("keybag") != nil && size("keychain.db") != nil
    }
}
