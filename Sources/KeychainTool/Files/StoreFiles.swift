internal import Foundation
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The files of keychains themselves, which the commands for files keep away from.
///
/// Encrypted under its own keys no keychain could open them any more. And a database that this process has open must not
/// even be looked at: closing a file gives up SQLite's locks on it, however often it is open (fcntl(2)).
struct StoreFiles {
    private let own: [FileNumber]

    init(_ session: KeychainSession) {
        let location = session.location
        self.init([location?.storeDirectory, location?.deviceKeyDirectory].compactMap(\.self))
    }

    /// - Parameter own: The directories of the keychain in use.
    init(_ own: [URL]) { self.own = own.compactMap { FileNumber($0.path) } }

    static func refusal(of path: String) -> FileFailure {
        FileFailure(path, .parameter, "it belongs to a keychain, whose own files are encrypted already")
    }

    /// - Throws: if a file lies, or would lie, in such a directory, or if its name is one that only a directory can have.
    func requireElsewhere(_ path: String) throws(FileFailure) {
        do throws(SystemError) { _ = try FilePath.followingLinks(FilePath.withoutSlashAtEnd(path)) } catch {
            throw FileFailure(path, "follow", error.number)
        }
        // The directory of a link too: a file that replaces the link itself is made there.
        let named = FilePath.directory(of: FilePath.withoutSlashAtEnd(path))
        if belong(in: named) || belong(in: parentDirectory(of: path)) { throw Self.refusal(of: path) }
        if FilePath.endsInSlash(path) { throw FileFailure(path, .parameter, "a file's name does not end in a slash") }
    }

    /// Whether a directory is that of a store or of a device key: this keychain's, or by its files another one's.
    func belong(in directory: String) -> Bool {
        if let number = FileNumber(directory), own.contains(number) { return true }
        func size(_ name: String) -> off_t? {
            var status = stat()
            return lstat(directory + "/" + name, &status) == 0 ? status.st_size : nil
        }
        return size("device-key") == 32 || size("keybag") != nil && size("keychain.db") != nil
    }
}
