internal import DataProtectionCore
internal import FoundationEssentials
internal import Glibc
internal import KeychainClient
internal import KeychainModel
internal import KeychainSystem

extension KeychainSession {
    /// The files under this keychain. Without a store every request for a key fails (44), and no store is made.
    var files: ProtectedFiles {
        guard presence == .absent else { return ProtectedFiles(connection: connection) }
        let refusal = KeychainError(.itemNotFound, message: "there is no keychain in \(host.place) yet")
        return ProtectedFiles(
            connection: Connection(engine: NoKeychain(refusal), caller: Caller(groups: [])))
    }

    /// The files as in ``files``, for a command that makes a store if there is none.
    var filesMakingStore: ProtectedFiles { ProtectedFiles(connection: connection) }

    /// The identifier of the store; nil: there is no store, or it cannot be asked.
    var storeID: UUID? {
        guard presence != .absent, let status = try? connection.ask(.status) else { return nil }
        return status.storeID
    }
}

/// An engine in the place of a store that is missing, because the real one would make it.
private final class NoKeychain: RequestHandler {
    private let refusal: KeychainError

    init(_ refusal: KeychainError) { self.refusal = refusal }

    func handle(_: Request, from _: Caller) throws(KeychainError) -> Reply { throw refusal }
    func waitForLockChange(since _: UInt64, timeout _: Duration) throws(KeychainError) -> UInt64 { throw refusal }
    func verifyBiometry(
        for _: Caller, _: Cancellation, hint _: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryTicket { throw .failed(refusal.message) }
    func listenForLocks() throws(KeychainError) -> any LockListener { throw refusal }
    func prepareForExit() {}
}

extension URL {
    /// A file as a person named it. The path is not simplified, so the system decides where `link/../name` leads.
    init(namedByPerson path: String, isDirectory: Bool = false) {
        let absolute = FilePath.isAbsolute(path) ? path : Self.workingDirectory + "/" + path
        self.init(fileURLWithPath: absolute, isDirectory: isDirectory)
    }

    /// The name of the working directory. If the name is not UTF-8, is too long or is gone, Foundation would make up
    /// another one, so the system's own link takes its place.
    private static var workingDirectory: String {
        let link = "/proc/self/cwd"
        guard let name = getcwd(nil, 0) else { return link }
        defer { free(name) }
        guard let text = String(validatingCString: name), FilePath.isAbsolute(text), text.utf8.count < PATH_MAX / 2
        else { return link }
        return text == "/" ? "" : text
    }
}

/// The directory in which a file is, or would be. A link leads to the file that counts.
func parentDirectory(of path: String) -> String {
    let path = FilePath.withoutSlashAtEnd(path)
    // An attempt to open the file tells why a link cannot be followed.
    return FilePath.directory(of: (try? FilePath.followingLinks(path)) ?? path)
}

/// The keychains' own files, which the commands for files leave alone.
///
/// A keychain could not open files that are encrypted under its own keys. And this process must not even look at a
/// database that it has open: the closing of a file gives up SQLite's locks on it, however often the file is open
/// (fcntl(2)).
struct StoreFiles {
    private let own: [FileNumber]

    init(_ session: KeychainSession) {
        // The next request tells why a daemon does not answer.
        let location = try? session.location()
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
