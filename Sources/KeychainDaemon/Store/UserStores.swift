package import FoundationEssentials
package import Glibc
package import KeychainModel
internal import KeychainSystem
internal import KeychainWire
package import Logging
internal import Synchronization

/// The stores of all users, in a directory of the daemon's own. Each is opened when its user's first program comes, and
/// closed when it is not needed. One that does not open harms its user alone.
package final class UserStores: Sendable {
    package typealias OpenEngine =
        @Sendable (uid_t, _ account: String, _ directory: URL) throws(KeychainError) ->
        any ChangeSource

    /// How long a store stays open without a client.
    private static let idleTime = Duration.seconds(60)
    /// Numbers that systemd gives to one service after the other (systemd.exec(5), DynamicUser=).
    private static let dynamicUsers: ClosedRange<uid_t> = 61_184...65_519
    /// Numbers that stand for no user, with 16 bits and with 32.
    private static let nobody: Set<uid_t> = [65_534, 65_535, .max - 1, .max]

    private let directory: URL
    private let logger: Logger
    private let watchesSessions: Bool
    private let account: @Sendable (uid_t) -> String?
    private let openEngine: OpenEngine
    private let stores = Mutex<[uid_t: ServedStore]>([:])
    private let end = EndFlag()

    /// - Parameters:
    ///   - state: The daemon's directory.
    ///   - account: The name of a user; nil: there is no account.
    package init(
        in state: URL, watchesSessions: Bool, _ logger: Logger,
        account: @escaping @Sendable (uid_t) -> String? = { AccountDatabase.name(of: $0) },
        openEngine: @escaping OpenEngine
    ) {
        directory = state.appendingPathComponent("stores")
        self.watchesSessions = watchesSessions
        self.logger = logger
        self.account = account
        self.openEngine = openEngine
    }

    package var all: [ServedStore] { stores.withLock { Array($0.values) } }

    /// Makes the directory, and begins to close stores that are not needed.
    package func prepare() throws(KeychainError) {
        try PrivateDirectory.create(directory, SystemFiles(), inOthersHomes: true)
        try WorkerThread.start("idle stores") { [self] in
            while !end.isSet {
                end.wait(for: Self.idleTime)
                for store in all { store.close(ifIdleFor: Self.idleTime) }
            }
        }
    }

    /// Ends what ``prepare()`` began.
    package func stop() { end.set() }

    /// - Throws: `.goodbye` for a user that has none here.
    package func store(of user: uid_t) throws(ConnectionEnd) -> ServedStore {
        guard !Self.dynamicUsers.contains(user), !Self.nobody.contains(user), let name = account(user) else {
            throw .goodbye(
                .refused,
                "user \(user) has no keychain here: it is a number without an account, or one that goes to another "
                    + "service later. Give the service an account (User= without DynamicUser=)")
        }
        do throws(KeychainError) { try requireSame(name, user) } catch { throw .goodbye(.refused, error.message) }
        return stores.withLock { stores in
            if let known = stores[user] { return known }
            let store = ServedStore(of: user, watchesSessions: watchesSessions, logger: logger) {
                [openEngine, directory] () throws(KeychainError) in
                try openEngine(user, name, directory.appendingPathComponent("\(user)"))
            }
            stores[user] = store
            return store
        }
    }

    /// A number that goes to another person does not take the keychain along.
    private func requireSame(_ name: String, _ user: uid_t) throws(KeychainError) {
        let record = directory.appendingPathComponent("\(user).account")
        if let content = try OwnFile.content(of: record, most: 4_096) {
            let former = String(decoding: content, as: UTF8.self).trimming(while: \.isNewline)
            guard former.utf8.elementsEqual(name.utf8) else {
                throw KeychainError(
                    .notAvailable,
                    message:
                        "the keychain of user \(user) is that of \(former), and the number belongs to \(name) now: "
                        + "move \(directory.path)/\(user) and \(record.path) away as root")
            }
            return
        }
        var line = name + "\n"
        let result = line.withUTF8 { bytes in
            Result { () throws(KeychainError) in
                // If two connections come at once, the second one finds the record of the first.
                try AtomicFile(unlocked: record, SystemFiles()).create(with: UnsafeRawBufferPointer(bytes))
            }
        }
        _ = try result.get()
    }
}
