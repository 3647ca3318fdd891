internal import CKeychainLinux
internal import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
package import KeychainEngine
package import KeychainModel
internal import KeychainSystem
internal import Logging

/// Saves the readable items of a damaged store into a new one, which takes its place; the damaged one is kept beside
/// it.
///
/// The repair reads every page of the database and follows no structure: a row that is whole is found wherever it lies,
/// and its own keys prove that it is authentic. Keys and persistent references stay as they are.
package struct StoreRepair {
    private let configuration: EngineConfiguration
    private let logger = Logger(label: "keychain.repair")
    /// Rows are written in transactions of about so many bytes.
    private static let bytesPerTransaction = 4 << 20

    package init(_ configuration: EngineConfiguration) {
        var configuration = configuration
        // A symbolic link stays: the directory that it leads to is exchanged.
        configuration.storeDirectory = configuration.storeDirectory.resolvingSymlinksInPath()
        self.configuration = configuration
    }

    /// - Parameters:
    ///   - passcode: Asked for once, if the store is locked. The attempt counts like any other.
    ///   - progress: Told how many pages were looked at, and how many there are.
    /// - Throws: `.notAvailable` if the store is in use, or the keybag or the device key does not open; if a newer
    ///   version made the store; or if no item can be saved; the errors of ``KeychainModel/Request/unlock(_:)``. After
    ///   any error the store is as it was.
    package func run(
        passcode: () throws -> SecretBytes, progress: (Int, Int) -> Void
    ) throws(KeychainError) -> RepairReport {
        defer { KeyTraces.erase() }
        do {
            try PrivateDirectory.check(configuration.storeDirectory)
            var configuration = configuration
            configuration.host = try HostMark(configuration).read()
            return try StoreRepair(configuration).save(passcode, progress)
        } catch {
            throw KeychainError(engineFailure: error)
        }
    }

    /// Works as the store's own host, whichever host that is: a running daemon has the database open.
    private func save(_ passcode: () throws -> SecretBytes, _ progress: (Int, Int) -> Void) throws -> RepairReport {
        // This check comes first: closing one of the store's files would drop the locks of SQLite in this process.
        guard !OpenStores.contains(configuration.storeDirectory) else {
            throw KeychainError(.notAvailable, message: "this program has the keychain open itself")
        }
        try requireOnlyOurFiles()
        try requireKnownVersion()
        let keys = try openKeys()
        // A lock that comes from now on holds for the new store too.
        let moment = keys.presentLock
        let wasLocked = try keys.begin().set(of: .whenUnlocked) == nil
        // A missing pair is left to the next unlock, which can look at the rows.
        if wasLocked { try keys.unlock(try passcode(), isPairLost: { true }) }
        let hasPasscode = try keys.begin().snapshot.bag.passcode != nil
        let present = hasPasscode && !wasLocked ? try StoreKeys(keys.begin()) : nil
        // A store that was locked is locked again.
        defer { if wasLocked { lockAgain(keys) } }
        let report = try keys.withStoreLock {
            try withStoreClosed {
                try exchange { directory in try save(into: directory, keys, progress) }
            }
        }
        // The kernel has the keys of the old directory. A lock of the last moment is written there, too.
        let aside = LockStateFile(
            URL(fileURLWithPath: report.oldStorePath).appendingPathComponent("lock-state"), configuration.files)
        guard hasPasscode else { return report }
        let isAsBefore = moment != nil && aside.read()?.lockedAt == moment?.lockedAt
        if !isAsBefore && !wasLocked { lockAgain(keys) }
        try keys.moveKeys(present, asOf: moment)
        return report
    }

    private func openKeys() throws -> KeyStore {
        let keybag = KeybagFile(configuration)
        guard keybag.exists else {
            throw KeychainError(
                .notAvailable,
                message: "\(keybag.url.path) is missing: without it nothing can be saved. Put it back from a backup")
        }
        return try KeyStore(configuration, keybagFile: keybag)
    }

    private func file(_ name: String) -> URL { configuration.storeDirectory.appendingPathComponent(name) }

    private func lockAgain(_ keys: KeyStore) {
        do throws(KeychainError) {
            try keys.lock(.now)
        } catch {
            logger.warning("the keychain stays unlocked", metadata: ["reason": "\(error.code)"])
        }
    }

    // MARK: Conditions

    /// The whole directory changes places, so other files in it would be missing from their place.
    private func requireOnlyOurFiles() throws {
        let ours = Set(FileInspection.ownNames.map(\.0) + ["keychain.db-journal", "keychain.db.new"])
        let names = try FileManager.default.contentsOfDirectory(atPath: configuration.storeDirectory.path)
        let others = names.filter { !ours.contains($0) && !$0.hasPrefix("keychain.db.new-") }.sorted()
        guard let first = others.first else { return }
        throw KeychainError(
            .notAvailable,
            message:
                "\(file(first).path) is no file of a store, and a repair puts another directory in this one's place: "
                + "move \(others.count == 1 ? "it" : "it and \(others.count - 1) more") to another directory first"
                + (others.contains("device-key") ? ", and name that with --device-key" : "") + ". Nothing was changed")
    }

    private func requireKnownVersion() throws {
        guard let version = try foundVersion(), version > configuration.schema.version else { return }
        throw KeychainError(
            .notAvailable,
            message:
                "\(file("keychain.db").path) has version \(version), and this program repairs versions up to "
                + "\(configuration.schema.version). \(OwnProgram.isTooOld). Nothing was changed")
    }

    /// nil: that page is damaged.
    private func foundVersion() throws -> Int? { try LoosePages(file("keychain.db")).schemaVersion }

    /// Runs `body` while no process has the database open or can open it: SQLite takes a lock on the same byte first.
    private func withStoreClosed<R>(_ body: () throws -> R) throws -> R {
        let index = file("keychain.db-shm")
        let descriptor = try OwnFile.make(index, through: configuration.files)
        defer { close(descriptor) }
        guard ckeychain_lock_byte(descriptor, LoggedTransactions.lockedByte) == 0 else {
            throw KeychainError(
                .notAvailable,
                message: "another program has \(file("keychain.db").path) open; stop it first ('fuser -v' names it). "
                    + "Nothing was changed")
        }
        return try body()
    }

    // MARK: Saving

    private func save(
        into directory: URL, _ keys: KeyStore, _ progress: (Int, Int) -> Void
    ) throws -> (saved: Int, unreadable: Int) {
        try copyFiles(to: directory)
        var configuration = configuration
        configuration.storeDirectory = directory
        let database = DatabaseFile(configuration)
        // A row may need what its version has.
        let schema = configuration.schema
        try database.make(version: max(schema.base, try foundVersion() ?? schema.version))
        // In a last attempt no row makes the operation begin anew, whatever keys it claims.
        let session = try keys.begin(isLastAttempt: true)
        // A lock came meanwhile: the rows whose keys it took away would count as unreadable.
        guard try session.set(of: .whenUnlocked) != nil else { throw session.lockedError(.whenUnlocked) }
        _ = try database.name(keys.storeID, generation: session.generation)
        let store = try StoreOpener(configuration).open().store
        let items = ItemOperations(
            store: store, keys: session, configuration: configuration, logger: logger,
            authentication: Authentication { .notAvailable("a repair looks at no reader") })
        var rescue = try RowRescue(items)
        try eachBatch(progress) { rows in try rescue.save(rows) }
        // The damaged store may have lost this mark. A store without it that is empty and has lost its keybag is taken
        // for a new one, and its files seem to belong to no store.
        try store.write { try $0.noteFiles() }
        try requireSound(items)
        try store.emptyLog()
        let saved = try store.read { try $0.itemCount() }
        guard saved > 0 else {
            throw KeychainError(
                .notAvailable,
                message:
                    "nothing can be saved: \(rescue.unreadableCount) items were found, and none opens. Keybag, device "
                    + "key and database may not belong together. Nothing was changed; put the files of one backup back")
        }
        return (saved, rescue.unreadableCount)
    }

    /// Copies the store's other files: its keys, the count of wrong passcodes, the lock and the host.
    private func copyFiles(to directory: URL) throws {
        for name in ["keybag", "attempts", "lock-state", "host"] {
            guard let source = try FileBytes(file(name)) else { continue }
            guard source.count <= KeybagFile.mostBytes, let bytes = source.bytes(at: 0, count: source.count) else {
                throw KeychainError(file: "read", file(name), source.count > KeybagFile.mostBytes ? EFBIG : EIO)
            }
            let copy = AtomicFile(locked: directory.appendingPathComponent(name), configuration.files)
            try bytes.withUnsafeBytes { bytes in _ = try copy.create(with: bytes) }
        }
    }

    private func eachBatch(_ progress: (Int, Int) -> Void, _ body: ([SalvagedRow]) throws -> Void) throws {
        var rows: [SalvagedRow] = []
        var size = 0
        try LoosePages(file("keychain.db")).forEachRow(progress) { row in
            rows.append(row)
            size += row.metadata.count + (row.secret?.count ?? 0)
            guard size >= Self.bytesPerTransaction || rows.count >= 1_000 else { return }
            try body(rows)
            rows.removeAll()
            size = 0
        }
        try body(rows)
    }

    private func requireSound(_ items: ItemOperations) throws {
        let damage = try items.check().filter { $0.severity == .damage }
        guard damage.isEmpty else {
            throw KeychainError(
                .internalFailure, message: "the repaired keychain is not sound (\(damage[0].text)); nothing was changed"
            )
        }
    }

    // MARK: Putting the new store in place

    /// Lets `fill` fill a new directory, and puts that in the store's place in one step. After a failure the directory
    /// is removed and the store is as it was.
    private func exchange(_ fill: (URL) throws -> (saved: Int, unreadable: Int)) throws -> RepairReport {
        let store = configuration.storeDirectory
        let fresh = sibling("repair-\(UUID().uuidString.prefix(8).lowercased())")
        try PrivateDirectory.create(fresh, configuration.files, inOthersHomes: true)
        var place = fresh
        let counts: (saved: Int, unreadable: Int)
        do {
            counts = try fill(fresh)
            // The directory has the old store's future name before the exchange, so the name is right whatever happens.
            place = try rename(fresh)
            let failure = ckeychain_exchange(store.path, place.path)
            guard failure == 0 else { throw Self.exchangeError(store, failure) }
        } catch {
            // The error at hand is the one that counts; the name of a directory left behind says what it is.
            try? FileManager.default.removeItem(at: place)
            throw error
        }
        // The exchange is done: if the names do not reach the disk, a power cut brings the old store back, as it was.
        try? PrivateDirectory.makeDurable(store, configuration.files)
        return RepairReport(savedCount: counts.saved, unreadableCount: counts.unreadable, oldStorePath: place.path)
    }

    /// Gives the new directory the name that the old store is to have.
    private func rename(_ fresh: URL) throws(KeychainError) -> URL {
        let day = Date(timeIntervalSinceReferenceDate: configuration.clock.now).formatted(
            .iso8601.year().month().day())
        for attempt in 1...1_000 {
            let name = sibling("damaged-\(day)" + (attempt == 1 ? "" : "-\(attempt)"))
            guard !FilePath.exists(name.path) else { continue }
            guard Glibc.rename(fresh.path, name.path) == 0 else { throw KeychainError(file: "rename", fresh, errno) }
            return name
        }
        throw KeychainError(.notAvailable, message: "a thousand damaged stores of today are there; remove some")
    }

    private func sibling(_ suffix: String) -> URL {
        let store = configuration.storeDirectory
        return store.deletingLastPathComponent().appendingPathComponent("\(store.lastPathComponent).\(suffix)")
    }

    private static func exchangeError(_ store: URL, _ failure: Int32) -> KeychainError {
        switch failure {
        case EINVAL, ENOSYS:
            KeychainError(
                .notAvailable,
                message: "the file system of \(store.path) cannot exchange two directories in one step; copy the "
                    + "directory to another one and repair it there. Nothing was changed")
        case EBUSY:
            KeychainError(
                .notAvailable,
                message: "\(store.path) is a mount point and cannot be exchanged; copy the directory to another place "
                    + "and repair it there. Nothing was changed")
        default: KeychainError(file: "exchange", store, failure)
        }
    }
}
