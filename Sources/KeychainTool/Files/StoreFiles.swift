internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The keychains' own files, which the commands for files leave alone.
///
/// A keychain could not open files that are encrypted under its own keys. And this process must not even look at a
/// database that it has open: the closing of a file gives up SQLite's locks on it, however often the file is open
/// (fcntl(2)).
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

    /// - Throws: if a file lies, or would lie, in such a directory, or if its name ends in a slash.
    func requireElsewhere(_ path: String) throws(FileFailure) {
        do throws(SystemError) { _ = try FilePath.followingLinks(FilePath.withoutSlashAtEnd(path)) } catch {
            throw FileFailure(path, "follow", error.number)
        }
        // The directory of a link counts too: a file that replaces the link would be made there.
        let named = FilePath.directory(of: FilePath.withoutSlashAtEnd(path))
        if belong(in: named) || belong(in: parentDirectory(of: path)) { throw Self.refusal(of: path) }
        if FilePath.endsInSlash(path) { throw FileFailure(path, .parameter, "a file's name does not end in a slash") }
    }

    /// Whether a directory has a store or a device key, of this keychain or, by its files, of another one.
    func belong(in directory: String) -> Bool {
        if let number = FileNumber(directory), own.contains(number) { return true }
        func size(_ name: String) -> off_t? {
            var status = stat()
            return lstat(directory + "/" + name, &status) == 0 ? status.st_size : nil
        }
        return size("device-key") == 32 || size("keybag") != nil && size("keychain.db") != nil
    }
}
