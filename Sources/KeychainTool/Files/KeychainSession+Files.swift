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
    func listenForChanges(as _: Caller) throws(KeychainError) -> any ChangeListener { throw refusal }
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
